import { type JsonObject, runCreated } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { memoryStore } from '../log/memory.ts';
import { approval, chain, keys, noop, type Served, served } from './served.contract.ts';

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
  const store = memoryStore();
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

test('does the work again when the first attempt under a key failed', async () => {
  const host = await served();
  const headers = { 'idempotency-key': 'later' };
  expect((await created(host, { workflowId: 'noop' }, headers)).status).toBe(404);
  await host.engine.register('t', noop);
  const reply = await created(host, { workflowId: 'noop' }, headers);
  expect([reply.status, reply.headers.get('openwop-idempotent-replay')]).toEqual([201, null]);
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

test.each(['/cancel', ':cancel'])(
  'cancels a run that waits through %s, and leaves an ended one as it is',
  async (verb) => {
    const host = await withWorkflows();
    const { body } = await created(host, { workflowId: 'approval' });
    const path = `/v1/runs/${body.runId}${verb}`;
    const reply = await host.ask('POST', path, { body: { reason: 'late' } });
    expect(reply).toMatchObject({ status: 200, body: { runId: body.runId, status: 'cancelled' } });
    expect(await host.ask('POST', path)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await host.ask('POST', path, { body: { because: 'x' } })).status).toBe(400);
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
