import { errorEnvelope } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approval, keys, noop, served } from './served.contract.ts';

const segment = fc.oneof(
  fc.constantFrom(
    'v1',
    'runs',
    'workflows',
    'events',
    'poll',
    'interrupts',
    'cancel',
    'RUN',
    'RUN:cancel',
    'n0',
    'noop',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map(encodeURIComponent),
  fc.constantFrom('%ff', '%00', '..', '.', '%2e%2e', ':cancel', 'x'.repeat(2_000)),
);
const query = fc.dictionary(
  fc.constantFrom('status', 'limit', 'cursor', 'tag', 'lastSequence', 'since', 'version', 'streamMode', 'bufferMs'),
  fc.oneof(fc.string(), fc.constantFrom('0', '-1', '1e3', '99999999999999999999', 'completed', 'debug')),
);
const field = fc.constantFrom(
  'workflowId',
  'inputs',
  'tags',
  'metadata',
  'configurable',
  'resumeValue',
  'reason',
  'id',
  'nodes',
);
const body = fc.option(
  fc.oneof(
    fc
      .dictionary(field, fc.oneof(fc.jsonValue(), fc.constantFrom('noop', 'approval')))
      .map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  ),
  { nil: undefined },
);
const headers = fc.dictionary(
  fc.constantFrom('idempotency-key', 'last-event-id', 'accept', 'content-type', 'if-none-match'),
  fc.oneof(
    fc.constantFrom('text/event-stream', 'application/json', 'text/plain', '0', '-5', '*', '"x"'),
    fc.stringMatching(/^[\x20-\x7e]{0,300}$/),
  ),
);

test('no request makes the host fail, and every refusal is an envelope', async () => {
  const host = await served();
  for (const definition of [noop, approval]) await host.engine.register('t', definition);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'noop', inputs: {}, options: {} });
  const method = fc.constantFrom<'GET' | 'POST' | 'PUT'>('GET', 'POST', 'PUT');
  const anything = fc.array(segment, { maxLength: 5 }).map((parts) => `/v1/${parts.join('/')}`);
  const known = fc
    .tuple(fc.constantFrom(...host.server.routes.map(({ path }) => path)), segment)
    .map(([path, node]) => path.replace('{runId}', 'RUN').replace('{nodeId}', node).replace('{workflowId}', 'noop'));
  const path = fc.oneof(known, anything).map((text) => text.replaceAll('RUN', runId));
  await fc.assert(
    fc.asyncProperty(method, path, query, body, headers, async (verb, target, params, raw, extra) => {
      const url = `${target}?${new URLSearchParams({ ...params, timeout: '1' })}`;
      const reply = await host.ask(verb, url, {
        key: keys.auditor,
        headers: extra,
        ...(raw === undefined || verb === 'GET' ? {} : { raw }),
      });
      expect(reply.status).toBeLessThan(500);
      if (reply.status >= 400) errorEnvelope.parse(reply.body);
      expect(host.reports.filter(({ level }) => level === 'error')).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
