/** The rest of the wire: discovery and a walk through the error paths, each answered with the closed envelope. */
import { type JsonObject, parseEvent, type RunEventDoc } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { objects } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { amendments } from './amendments.ts';
import type { OpenwopData } from './openwop-data.ts';
import { type Call, WireHost } from './wire-host.ts';
import { wireSchemas } from './wire-schemas.ts';
import { withOpenwop } from './with-openwop.ts';

withOpenwop('the rest of the wire', compared);

interface ErrorPath {
  readonly name: string;
  readonly request: readonly [method: string, path: string, call?: Call];
  readonly answer: readonly [status: number, error: string];
}

const run = (body: JsonObject | string): Call => ({ body });
const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const errorPaths: readonly ErrorPath[] = [
  { name: 'no key', request: ['GET', '/v1/runs', { as: null }], answer: [401, 'unauthenticated'] },
  {
    name: 'an unknown key',
    request: ['GET', '/v1/runs', { as: null, headers: { authorization: 'Bearer nobody-holds-this-key' } }],
    answer: [401, 'unauthenticated'],
  },
  { name: 'a missing scope', request: ['POST', '/v1/runs', { as: 'reader', body: {} }], answer: [403, 'forbidden'] },
  {
    name: 'no key, before existence',
    request: ['GET', '/v1/runs/unknown', { as: null }],
    answer: [401, 'unauthenticated'],
  },
  { name: 'an unknown run', request: ['GET', '/v1/runs/run_unknown'], answer: [404, 'not_found'] },
  { name: 'the events of an unknown run', request: ['GET', '/v1/runs/run_unknown/events'], answer: [404, 'not_found'] },
  { name: 'an unknown route', request: ['GET', '/v1/nothing-here'], answer: [404, 'not_found'] },
  { name: 'a wrong method', request: ['DELETE', '/v1/runs'], answer: [405, 'method_not_allowed'] },
  {
    name: 'an unknown workflow',
    request: ['POST', '/v1/runs', run({ workflowId: 'nope' })],
    answer: [404, 'not_found'],
  },
  { name: 'malformed JSON', request: ['POST', '/v1/runs', run('{"workflowId":')], answer: [400, 'validation_error'] },
  {
    name: 'a key given twice',
    request: ['POST', '/v1/runs', run('{"workflowId":"a","workflowId":"b"}')],
    answer: [400, 'validation_error'],
  },
  {
    name: 'JSON that is too deep',
    request: ['POST', '/v1/runs', run(`{"workflowId":"a","inputs":{"a":${deep(200)}}}`)],
    answer: [400, 'validation_error'],
  },
  {
    name: 'an undeclared property',
    request: ['POST', '/v1/runs', run({ workflowId: 'conformance-noop', colour: 'red' })],
    answer: [400, 'validation_error'],
  },
  {
    name: 'a recursionLimit of 0',
    request: ['POST', '/v1/runs', run({ workflowId: 'conformance-noop', configurable: { recursionLimit: 0 } })],
    answer: [400, 'validation_error'],
  },
  {
    name: 'too many tags',
    request: [
      'POST',
      '/v1/runs',
      run({ workflowId: 'conformance-noop', tags: Array.from({ length: 101 }, (_, i) => `t${i}`) }),
    ],
    answer: [400, 'validation_error'],
  },
  {
    name: 'another media type',
    request: ['POST', '/v1/runs', { body: 'workflowId=a', headers: { 'content-type': 'text/plain' } }],
    answer: [415, 'unsupported_media_type'],
  },
  {
    name: 'a body that is too large',
    request: ['POST', '/v1/runs', run({ workflowId: 'conformance-noop', inputs: { text: 'x'.repeat(300_000) } })],
    answer: [413, 'payload_too_large'],
  },
  {
    name: 'a definition without nodes',
    request: ['POST', '/v1/workflows', run({ id: 'empty', name: 'Empty', version: '1' })],
    answer: [400, 'validation_error'],
  },
];

/** Error paths of one existing, finished run. */
const runErrorPaths: readonly ErrorPath[] = [
  { name: 'a run of another tenant', request: ['GET', '', { as: 'stranger' }], answer: [404, 'not_found'] },
  {
    name: 'cancel by another tenant',
    request: ['POST', '/cancel', { as: 'stranger', body: {} }],
    answer: [404, 'not_found'],
  },
  {
    name: 'an unknown stream mode',
    request: ['GET', '/events?streamMode=quantum'],
    answer: [400, 'unsupported_stream_mode'],
  },
  { name: 'an impossible buffer', request: ['GET', '/events?bufferMs=99999'], answer: [400, 'validation_error'] },
  { name: 'a negative cursor', request: ['GET', '/events/poll?lastSequence=-5'], answer: [400, 'validation_error'] },
  {
    name: 'a cursor that is no number',
    request: ['GET', '/events/poll?lastSequence=x'],
    answer: [400, 'validation_error'],
  },
  {
    name: 'an answer to a node that never asked',
    request: ['POST', '/interrupts/nobody', { body: { resumeValue: {} } }],
    answer: [404, 'interrupt_not_found'],
  },
];

function compared(data: OpenwopData): void {
  const schemas = wireSchemas(data);
  let host: WireHost;
  let finished: string;
  const definitions = ['conformance-noop', 'conformance-approval'].map(
    (id) => present(data.fixtures.get(id)).definition,
  );
  beforeAll(async () => {
    host = await WireHost.open(schemas, { workflows: definitions as never });
    const started = await host.start('conformance-noop');
    await started.ended();
    finished = started.runId;
  });
  afterAll(() => host?.[Symbol.asyncDispose]());

  test('every amendment of a schema still finds what it amends', () => {
    expect(amendments.map((amendment) => amendment.source)).toContain('row 29');
    expect(() => wireSchemas(data)).not.toThrow();
  });

  describe('discovery', () => {
    test('fits its schema, with and without a key, and names the fixtures seeded at start', async () => {
      for (const as of [null, 'ann'] as const) {
        const { status, body, headers } = await host.call('GET', '/.well-known/openwop', { as });
        expect(status).toBe(200);
        expect(headers.get('cache-control')).toBeTruthy();
        schemas.checkDiscovery(body);
        expect(body.fixtures).toEqual(definitions.map((definition) => definition.id));
      }
    });

    test('promises nothing that is not there', async () => {
      const { body } = await host.call('GET', '/.well-known/openwop');
      const later = ['budget'];
      for (const family of later) expect(body).not.toHaveProperty(family);
      expect(body.agents).not.toHaveProperty('profile');
      expect(body.dispatch).not.toHaveProperty('joinModes');
      expect(body.supportedTransports).toEqual(['rest', 'a2a', 'mcp']);
      expect(body.mcp).toMatchObject({ supported: true, serverMount: { transports: ['streamable-http'] } });
      const versions = { protocolVersions: ['1.0'], preferredVersion: '1.0', profiles: ['a2a-1.0'] };
      expect(body.a2a).toMatchObject({ supported: true, streaming: true, pushNotifications: true, ...versions });
    });

    test('answers 304 to a caller who has it', async () => {
      const { headers } = await host.call('GET', '/.well-known/openwop');
      const again = await host.call('GET', '/.well-known/openwop', {
        headers: { 'if-none-match': present(headers.get('etag')) },
      });
      expect(again.status).toBe(304);
    });
  });

  describe('an error path', () => {
    test.each(errorPaths)(
      '$name is answered with the closed envelope',
      async ({ request: [method, path, call], answer }) => {
        const { status, body } = await host.call(method, path, call);
        expect([status, body.error]).toEqual(answer);
      },
    );

    test.each(runErrorPaths)('$name is answered with the closed envelope', async ({ request, answer }) => {
      const [method, path, call] = request;
      const { status, body } = await host.call(method, `/v1/runs/${finished}${path}`, call);
      expect([status, body.error]).toEqual(answer);
    });

    test('the same version with another body is a conflict', async () => {
      const changed = { ...present(data.fixtures.get('conformance-noop')).definition, name: 'Another' };
      expect(await host.call('POST', '/v1/workflows', { body: changed })).toMatchObject({
        status: 409,
        body: { error: 'conflict' },
      });
    });
  });

  test('a row of the run list is a snapshot, newest first', async () => {
    const { runId } = await host.start('conformance-approval');
    const { body } = await host.call('GET', '/v1/runs');
    const rows = objects(body.runs);
    for (const row of rows) schemas.checkSnapshot(row);
    expect(rows.map((row) => row.runId)).toEqual([runId, finished]);
  });

  test('the debug bundle of a run fits its schema, at rest and at its end, whoever reads it', async () => {
    const { runId } = await host.start('conformance-approval');
    for (const [id, as] of [
      [runId, 'ann'],
      [finished, 'ann'],
      [finished, 'bob'],
    ] as const) {
      const { status, headers, body } = await host.call('GET', `/v1/runs/${id}/debug-bundle`, { as });
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      schemas.checkBundle(body);
      schemas.checkSnapshot(body.run);
      const events = objects(body.events).map((event) => parseEvent(event));
      for (const event of events) schemas.checkEvent(event);
      expect(body.metrics).toMatchObject({ eventCount: events.length });
    }
  });

  test('a payload that its schema does not allow is found', () => {
    const event = { eventId: 'run_x:0', runId: 'run_x', timestamp: '2026-01-01T00:00:00.000Z', sequence: 0 };
    const wrong = { ...event, type: 'node.started', payload: { nodeId: 'a' } };
    expect(() => schemas.checkEvent(wrong as RunEventDoc)).toThrow(/payload of event 0/);
    expect(() => schemas.checkEvent({ ...event, type: 'run.invented', payload: {} } as RunEventDoc)).toThrow(/event 0/);
  });

  describe('the events of a run', () => {
    test('are the same as JSON, as a stream and as a poll, and a cursor past the end is empty, not an error', async () => {
      const path = `/v1/runs/${finished}/events`;
      const { events } = (await host.call('GET', path)).body;
      const streamed: unknown[] = [];
      const parser = createParser({ onEvent: (message) => streamed.push(JSON.parse(message.data)) });
      parser.feed(await host.text(`${path}?streamMode=debug`, { accept: 'text/event-stream' }));
      expect(streamed).toEqual(events);
      const poll = await host.call('GET', `${path}/poll?timeout=1`);
      expect(poll.body).toMatchObject({ events, isComplete: true, isTerminal: true, runStatus: 'completed' });
      const past = await host.call('GET', `${path}/poll?lastSequence=9999&timeout=1`);
      expect(past).toMatchObject({ status: 200, body: { events: [], isComplete: true } });
    });

    test('leave operator rows out for a key without audit:read, on every surface', async () => {
      const path = `/v1/runs/${finished}/events`;
      const seen = (await host.call('GET', path, { as: 'bob' })).body.events as readonly { type: string }[];
      expect(seen.map(({ type }) => type)).toContain('run.completed');
      expect(seen.filter(({ type }) => /^cairn\.(step|timer|cancel|internal)\./.test(type))).toEqual([]);
      const streamed = await host.text(`${path}?streamMode=debug`, { accept: 'text/event-stream' }, 'bob');
      expect(streamed).not.toMatch(/event: cairn\.(step|timer)\./);
    });
  });
}
