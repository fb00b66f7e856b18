/** What a 404 repeats of an id that names nothing. */
import { expect, test } from 'vitest';
import { createRedactor } from '../../redaction/redactor.ts';
import { approval } from '../sample-workflows.kit.ts';
import { keys, served } from '../served.kit.ts';
import { everyRoute, asked as requestOf, routeCases, waitingRun } from './route-cases.kit.ts';

const SECRET = 'tiger-5521-lion';
const redactor = createRedactor([{ name: 'crm', value: SECRET }]);

/** Requests that name something by an id of the right form. */
const named: readonly (readonly [string, (id: string) => readonly ['GET' | 'DELETE' | 'POST', string, object?]])[] = [
  ['a run', (id) => ['GET', `/v1/runs/run_${id}`]],
  ['a workflow', (id) => ['GET', `/v1/workflows/w-${id}`]],
  ['a workflow to run', (id) => ['POST', '/v1/runs', { workflowId: `w-${id}` }]],
  [
    'a context',
    (id) => ['POST', '/v1/runs', { workflowId: 'approval', configurable: { 'cairn.contextId': `ctx_${id}` } }],
  ],
  ['a tool', (id) => ['GET', `/v1/tools/acme:${id}`]],
  ['an agent', (id) => ['GET', `/v1/agents/vendor.acme.desk.a-${id}`]],
  ['a pack', (id) => ['DELETE', `/v1/host/cairn/packs/vendor.acme.p-${id}`]],
  ['a webhook', (id) => ['DELETE', `/v1/webhooks/wh_${id}`]],
];

async function asked(request: readonly ['GET' | 'DELETE' | 'POST', string, object?]) {
  const host = await served({ redactor });
  await host.engine.register('t', approval);
  const [method, path, body] = request;
  return host.ask(method, path, { key: keys.auditor, ...(body === undefined ? {} : { body: { ...body } }) });
}

test.each(named)('a 404 repeats the id of %s, unless it holds a secret', async (_what, request) => {
  const plain = await asked(request('zebra-5521'));
  expect([plain.status, plain.text]).toEqual([404, expect.stringContaining('zebra-5521')]);
  const hidden = await asked(request(SECRET));
  expect(hidden.text).not.toContain('5521');
  // A context is recorded as it is, so that one with a secret is refused before it is looked for.
  if (hidden.status !== 400) expect([hidden.status, hidden.body.error]).toEqual([404, 'not_found']);
  expect(Object.keys(Object(hidden.body.details))).not.toContain('runId');
  expect(Object.keys(Object(hidden.body.details))).not.toContain('workflowId');
});

test.each([
  ['what is no run id', '/v1/runs/no%20id-zebra'],
  ['what is no workflow id', '/v1/workflows/No%20zebra'],
  ['what is no tool id', '/v1/tools/zebra%20tool'],
  ['what is no agent id', '/v1/agents/zebra%20agent'],
  ['an unknown path', '/v1/zebra'],
  ['an unknown well-known path', '/.well-known/zebra'],
  ['an id that is too long', `/v1/runs/${'zebra'.repeat(1000)}`],
])('a 404 does not repeat %s', async (_what, path) => {
  const reply = await asked(['GET', path]);
  expect([reply.status, reply.body.error]).toEqual([404, 'not_found']);
  expect(reply.text).not.toContain('zebra');
});

test.each([
  ['a method that the path does not answer', 'DELETE', '/v1/runs/zebra/events', 405],
  ['a path without a version', 'GET', '/zebra', 400],
  ['a path that is not well-formed', 'GET', '/v1/runs/zebra%zz', 400],
])('%s is refused without the path', async (_what, method, path, status) => {
  const host = await served();
  const response = await fetch(`${host.url}${path}`, { method, headers: { authorization: `Bearer ${keys.alice}` } });
  expect(response.status).toBe(status);
  const text = await response.text();
  expect([text.includes('zebra'), text.includes('"message":')]).toEqual([false, true]);
});

test('a 404 for an interrupt repeats only a well-formed name without a secret', async () => {
  const host = await served({ redactor });
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const ask = async (name: string) =>
    (await host.ask('POST', `/v1/runs/${runId}/interrupts/${name}`, { body: { resumeValue: { action: 'accept' } } }))
      .text;
  expect(await ask('zebra')).toContain('has no interrupt of node zebra.');
  expect(await ask('zebra%20stripes')).toContain('has no such interrupt');
  expect(await ask('zebra%20stripes')).not.toContain('zebra');
  expect(await ask(SECRET)).not.toContain(SECRET);
});

test('an id with a secret counts once as a failed attempt of its key', async () => {
  const host = await served({ redactor, limits: { maxFailedAuthPerMinute: 2 }, now: () => 0 });
  const status = async (path: string, key = keys.alice) => (await host.ask('GET', path, { key })).status;
  const body = { workflowId: `w-${SECRET}` };
  expect((await host.ask('POST', '/v1/runs', { body })).status).toBe(404);
  // Percent-encoded, so that only the decoded id holds the secret.
  expect(await status('/v1/runs/run_%74iger-5521-lion')).toBe(404);
  expect(await status('/v1/runs')).toBe(429);
  expect(await status('/v1/runs', keys.auditor)).toBe(200);
});

test('no 404 repeats an id that is not well-formed, on any route', async () => {
  const host = await served(everyRoute);
  const zebra = 'zebra stripes\u202e<b>';
  const found: string[] = [];
  for (const route of host.server.routes) {
    const { given = waitingRun, request } = routeCases[route.doc.id] ?? {};
    for (const [, name = ''] of route.path.matchAll(/\{(\w+)\}/g)) {
      const sent = request?.(await given(host)) ?? {};
      const { path, with: rest } = requestOf(route.path, { ...sent, path: { ...sent.path, [name]: zebra } });
      const reply = await host.ask(route.method, path, { ...rest, key: route.scope && keys.auditor });
      if (reply.status === 404 && /zebra|\u202e/.test(reply.text)) found.push(`${route.doc.id} ${name} ${reply.text}`);
    }
  }
  expect(found).toEqual([]);
});
