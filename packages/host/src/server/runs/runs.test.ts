import { type JsonObject, runCreated } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

async function withWorkflows(): Promise<Served> {
  const host = await served();
  for (const definition of [noop, approval]) await host.engine.register('t', definition);
  return host;
}

const created = (host: Served, body: JsonObject, headers: Record<string, string> = {}) =>
  host.ask('POST', '/v1/runs', { body, headers });

async function ended(host: Served, runId: unknown): Promise<void> {
  await host.ask('GET', `/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } });
}

test('creates a run and tells where to follow it', async () => {
  const host = await withWorkflows();
  const reply = await created(host, { workflowId: 'noop', inputs: { a: 1 }, tags: ['x'], metadata: { b: 2 } });
  expect(reply.status).toBe(201);
  const run = runCreated.parse(reply.body);
  expect(run).toMatchObject({
    workflowId: 'noop',
    eventsUrl: `/v1/runs/${run.runId}/events`,
    statusUrl: `/v1/runs/${run.runId}`,
  });
  await ended(host, run.runId);
  expect((await host.ask('GET', `/v1/runs/${run.runId}`)).body).toMatchObject({
    runId: run.runId,
    status: 'completed',
    owner: { tenant: 't', principal: 'alice' },
    tags: ['x'],
    metadata: { b: 2 },
  });
});

test('says which workflow it does not know', async () => {
  const host = await withWorkflows();
  expect(await created(host, { workflowId: 'nothing' })).toMatchObject({
    status: 404,
    body: { error: 'not_found', details: { workflowId: 'nothing' } },
  });
});

test.each([
  [{}, 400, 'validation_error'],
  [{ workflowId: '' }, 400, 'validation_error'],
  [{ workflowId: 'noop', tags: Array.from({ length: 101 }, () => 'x') }, 400, 'validation_error'],
  [{ workflowId: 'noop', configurable: { recursionLimit: 0 } }, 400, 'validation_error'],
  [{ agentId: 'some.agent' }, 400, 'capability_required'],
  [{ workflowId: 'noop', callbackUrl: 'https://10.0.0.1/' }, 400, 'validation_error'],
  [{ mode: 'eval' }, 501, 'capability_not_provided'],
])('refuses the run %j', async (body, status, error) => {
  const host = await withWorkflows();
  const reply = await created(host, body as JsonObject);
  expect([reply.status, reply.body.error]).toEqual([status, error]);
});

test.each([
  ['configurable', (many: JsonObject) => ({ configurable: many })],
  ['configurable.ai', (many: JsonObject) => ({ configurable: { ai: many } })],
  ['metadata', (many: JsonObject) => ({ metadata: many })],
])('refuses %s with thousands of keys before it looks at them', async (field, options) => {
  const host = await withWorkflows();
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`k${i}`, 1]));
  const reply = await created(host, { workflowId: 'noop', ...options(many) });
  expect(reply).toMatchObject({ status: 400, body: { error: 'validation_error', details: { field, maxKeys: 2_000 } } });
});

test('gives the same answer to the same request under one idempotency key, and says that it did', async () => {
  const host = await withWorkflows();
  const key = { 'idempotency-key': 'k-1' };
  const first = await created(host, { workflowId: 'noop', inputs: { a: 1, b: 2 } }, key);
  // The same request in another order of keys is the same request.
  const second = await created(host, { inputs: { b: 2, a: 1 }, workflowId: 'noop' }, key);
  expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
  expect([first, second].map(({ headers }) => headers.get('openwop-idempotent-replay'))).toEqual([null, 'true']);
  expect((await host.ask('GET', '/v1/runs')).body.runs).toHaveLength(1);
});

test('refuses another request under a used key, and keeps keys of tenants apart', async () => {
  const host = await withWorkflows();
  await host.engine.register('other', noop);
  const headers = { 'idempotency-key': 'k-1' };
  await created(host, { workflowId: 'noop' }, headers);
  expect(await created(host, { workflowId: 'approval' }, headers)).toMatchObject({
    status: 409,
    body: { error: 'idempotency_key_mismatch' },
  });
  const body = { workflowId: 'noop' };
  expect((await host.ask('POST', '/v1/runs', { body, headers, key: keys.stranger })).status).toBe(201);
});

test('carries out one of many equal requests that arrive together', async () => {
  const host = await withWorkflows();
  const headers = { 'idempotency-key': 'race' };
  const replies = await Promise.all(Array.from({ length: 20 }, () => created(host, { workflowId: 'noop' }, headers)));
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(replies.filter(({ headers }) => headers.get('openwop-idempotent-replay') === null)).toHaveLength(1);
  expect((await host.ask('GET', '/v1/runs')).body.runs).toHaveLength(1);
});

test('carries out one of two equal requests on two nodes that share a store', async () => {
  const store = inMemoryStore();
  const nodes = await Promise.all([served({ store }), served({ store })]);
  await nodes[0]?.engine.register('t', noop);
  for (let round = 0; round < 20; round += 1) {
    const headers = { 'idempotency-key': `race-${round}` };
    const replies = await Promise.all(nodes.map((node) => created(node, { workflowId: 'noop' }, headers)));
    const runs = replies.filter(({ status }) => status === 201).map(({ body }) => body.runId);
    expect(new Set(runs).size).toBe(1);
    for (const reply of replies) {
      if (reply.status !== 201) expect(reply.body.error).toBe('idempotency_in_flight');
    }
  }
});

test('a repeat under the key of a run whose workflow was not there starts it, once', async () => {
  const host = await served();
  const headers = { 'idempotency-key': 'later' };
  const first = await created(host, { workflowId: 'noop' }, headers);
  await host.engine.register('t', noop);
  const [second, third] = [
    await created(host, { workflowId: 'noop' }, headers),
    await created(host, { workflowId: 'noop' }, headers),
  ];
  expect([first.status, second.status, third.text]).toEqual([404, 201, second.text]);
  expect(third.headers.get('openwop-idempotent-replay')).toBe('true');
});

const enforce = { 'x-dedup': 'enforce' };

test('with X-Dedup one run of a scope goes on at a time, and the next one starts when it has ended', async () => {
  const host = await withWorkflows();
  const inScope = (scopeId: string, headers: Record<string, string> = enforce) =>
    created(host, { workflowId: 'approval', scopeId }, headers);
  const replies = await Promise.all(Array.from({ length: 10 }, () => inScope('order-7')));
  const [first, ...more] = replies.toSorted((a, b) => a.status - b.status);
  expect(first?.status).toBe(201);
  for (const reply of more) {
    expect(reply).toMatchObject({
      status: 409,
      body: {
        error: 'run_already_active',
        details: { activeRunId: first?.body.runId, activeHost: 'test', retryAfter: 1 },
      },
    });
    expect(reply.headers.get('retry-after')).toBe('1');
  }
  expect((await host.ask('GET', '/v1/runs')).body.runs).toHaveLength(1);
  expect((await inScope('order-8')).status).toBe(201);
  expect((await inScope('order-7', {})).status).toBe(201);
  await host.engine.register('other', approval);
  const theirs = { body: { workflowId: 'approval', scopeId: 'order-7' }, headers: enforce, key: keys.stranger };
  expect((await host.ask('POST', '/v1/runs', theirs)).status).toBe(201);
  const { runs } = (await host.ask('GET', '/v1/runs')).body as { runs: readonly JsonObject[] };
  for (const { runId } of runs) await host.ask('POST', `/v1/runs/${runId}/cancel`);
  expect((await inScope('order-7')).status).toBe(201);
});

test('with a key too, the refusal for an active scope is not repeated once the scope is free', async () => {
  const host = await withWorkflows();
  const body = { workflowId: 'approval', scopeId: 's' };
  const { runId } = (await created(host, body, enforce)).body;
  const keyed = { ...enforce, 'idempotency-key': 'k' };
  expect((await created(host, body, keyed)).status).toBe(409);
  await host.ask('POST', `/v1/runs/${runId}/cancel`);
  const started = await created(host, body, keyed);
  const again = await created(host, body, keyed);
  expect([started.status, again.status, again.text]).toEqual([201, 201, started.text]);
});

test.each([
  [{ workflowId: 'noop' }, 'enforce'],
  [{ workflowId: 'noop', scopeId: 's' }, 'on'],
  [{ workflowId: 'noop', scopeId: '' }, 'enforce'],
])('refuses %j with X-Dedup: %s', async (body, dedup) => {
  const host = await withWorkflows();
  expect((await created(host, body, { 'x-dedup': dedup })).status).toBe(400);
  expect((await host.ask('GET', '/v1/runs')).body.runs).toEqual([]);
});

test('a run is not sent again to who has it, until something happens to it', async () => {
  const host = await withWorkflows();
  const { body } = await created(host, { workflowId: 'approval' });
  const path = `/v1/runs/${body.runId}`;
  const first = await host.ask('GET', path);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[^"]+"$/);
  const read = (known: string) => host.ask('GET', path, { headers: { 'if-none-match': known } });
  for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
    const reply = await read(known);
    expect([reply.status, reply.text, reply.headers.get('etag')]).toEqual([304, '', etag]);
  }
  expect((await read('"other"')).status).toBe(200);
  await host.ask('POST', `${path}/cancel`);
  const changed = await read(etag);
  expect([changed.status, changed.body.status]).toEqual([200, 'cancelled']);
  expect(changed.headers.get('etag')).not.toBe(etag);
  expect((await read(changed.headers.get('etag') ?? '')).status).toBe(304);
});

test('nobody learns by If-None-Match whether another tenant has a run', async () => {
  const host = await withWorkflows();
  const { body } = await created(host, { workflowId: 'approval' });
  for (const runId of [String(body.runId), 'run_unknown']) {
    const reply = await host.ask('GET', `/v1/runs/${runId}`, { key: keys.stranger, headers: { 'if-none-match': '*' } });
    expect([reply.status, reply.body.error, reply.headers.get('etag')]).toEqual([404, 'not_found', null]);
  }
});

test.each(['', 'x'.repeat(256)])('refuses an idempotency key of the wrong length', async (key) => {
  const host = await withWorkflows();
  expect((await created(host, { workflowId: 'noop' }, { 'idempotency-key': key })).status).toBe(400);
});

test('lists runs newest first, page by page, and filters them', async () => {
  const host = await withWorkflows();
  const ids: unknown[] = [];
  for (const [workflowId, tag] of [
    ['noop', 'a'],
    ['approval', 'a'],
    ['noop', 'b'],
  ] as const) {
    const { body } = await created(host, { workflowId, tags: [tag] });
    ids.unshift(body.runId);
    if (workflowId === 'noop') await ended(host, body.runId);
  }
  const list = async (query: string) => {
    const { body } = await host.ask('GET', `/v1/runs${query}`);
    const runs = body.runs as readonly JsonObject[];
    return { runs, ids: runs.map(({ runId }) => runId), nextCursor: body.nextCursor };
  };
  expect((await list('')).ids).toEqual(ids);
  expect((await list('?workflowId=noop')).ids).toEqual([ids[0], ids[2]]);
  expect((await list('?tag=a')).ids).toEqual([ids[1], ids[2]]);
  expect((await list('?status=waiting-approval')).ids).toEqual([ids[1]]);
  const first = await list('?limit=2');
  expect(first.ids).toEqual(ids.slice(0, 2));
  expect(await list(`?limit=2&cursor=${first.nextCursor}`)).toMatchObject({ ids: [ids[2]], nextCursor: null });
  const { runs } = await list('?status=completed&limit=1');
  expect(runs).toMatchObject([{ workflowId: 'noop', status: 'completed', owner: { tenant: 't' }, tags: ['b'] }]);
  expect(Object.keys(runs[0] ?? {})).toContain('completedAt');
});

test('a cursor tells nothing of how many runs others have, and is good for the tenant it was given to', async () => {
  const host = await withWorkflows();
  for (let i = 0; i < 3; i += 1) await created(host, { workflowId: 'approval' });
  const page = await host.ask('GET', '/v1/runs?limit=1');
  const cursor = String(page.body.nextCursor);
  expect(cursor).toMatch(/^[\w-]{30,}$/);
  expect(String((await host.ask('GET', '/v1/runs?limit=2')).body.nextCursor)).not.toBe(cursor);
  expect((await host.ask('GET', `/v1/runs?cursor=${cursor}`)).body.runs).toHaveLength(2);
  for (const [key, text] of [
    [keys.stranger, cursor],
    [keys.alice, '3'],
    [keys.alice, `${cursor}AA`],
  ] as const) {
    const refused = await host.ask('GET', `/v1/runs?cursor=${text}`, { key });
    expect([text, refused.status, refused.body.error]).toEqual([text, 400, 'validation_error']);
  }
});

test.each(['limit=0', 'limit=201', 'limit=x', 'status=done', 'cursor=zzz'])(
  'refuses the list query %s',
  async (query) => {
    const host = await withWorkflows();
    expect(await host.ask('GET', `/v1/runs?${query}`)).toMatchObject({
      status: 400,
      body: { error: 'validation_error' },
    });
  },
);

test('passes the answer of an interrupt on, and tells what is wrong with one', async () => {
  const host = await withWorkflows();
  const { body } = await created(host, { workflowId: 'approval' });
  const answer = (node: string, value: JsonObject) =>
    host.ask('POST', `/v1/runs/${body.runId}/interrupts/${node}`, { body: value });
  expect(await answer('n0', {})).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  expect(await answer('n0', { resumeValue: { action: 'accept' }, more: 1 })).toMatchObject({ status: 400 });
  expect(await answer('n9', { resumeValue: {} })).toMatchObject({
    status: 404,
    body: { error: 'interrupt_not_found' },
  });
  expect(await answer('n0', { resumeValue: { action: 'dance' } })).toMatchObject({ status: 400 });
  expect(await answer('n0', { resumeValue: { action: 'accept' } })).toMatchObject({
    status: 200,
    body: { runId: body.runId, nodeId: 'n0' },
  });
  expect(await answer('n0', { resumeValue: { action: 'accept' } })).toMatchObject({
    status: 409,
    body: { error: 'interrupt_already_resolved' },
  });
});

test('registers a workflow, the same again, not another under its version, and gives it back', async () => {
  const host = await served();
  const definition = chain('two', { typeId: 'core.noop' }, { typeId: 'core.noop' });
  const register = (body: object) => host.ask('POST', '/v1/workflows', { raw: JSON.stringify(body) });
  expect(await register(definition)).toMatchObject({ status: 201, body: { workflowId: 'two', version: '1' } });
  expect((await register(definition)).status).toBe(201);
  expect(await register({ ...definition, name: 'changed' })).toMatchObject({
    status: 409,
    body: { error: 'conflict' },
  });
  expect((await register({ ...definition, name: 'changed', version: '2' })).status).toBe(201);
  expect(await register({ id: 'x' })).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  expect(await register(chain('bad', { typeId: 'core.dispatch' }))).toMatchObject({
    body: { error: 'capability_required' },
  });
  expect((await host.ask('GET', '/v1/workflows/two')).body).toMatchObject({ name: 'changed', version: '2' });
  expect((await host.ask('GET', '/v1/workflows/two?version=1')).body).toEqual(definition);
  expect((await host.ask('GET', '/v1/workflows')).body).toMatchObject({
    workflows: [{ workflowId: 'two', version: '2' }],
  });
  expect((await host.ask('GET', '/v1/workflows', { key: keys.stranger })).body).toEqual({ workflows: [] });
});
