/** What one node acknowledged holds at the next request to another node. Run it with CAIRN_SUITE_STORE=postgres, too. */
import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain } from '../sample-workflows.kit.ts';
import { accept, asked, cluster, ended, key, type TestNode } from './two-nodes.kit.ts';

const started = async (node: TestNode, workflowId: string, inputs: object = {}): Promise<RunId> => {
  const { status, body } = await node.ask('POST', '/v1/runs', { body: { workflowId, ...inputs } });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body.runId as RunId;
};

const scopes = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:delete',
  'approvals:respond',
] as const;

async function pair(config: Parameters<typeof cluster>[0] = {}) {
  const nodes = await cluster({ keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }], ...config });
  return { nodes, a: await nodes.node(), b: await nodes.node() };
}

test('a question that is answered at two nodes at a time is answered once', async () => {
  const { nodes, a, b } = await pair();
  for (let i = 0; i < 8; i += 1) {
    const runId = await started(a, 'approval');
    await asked(nodes, runId);
    const replies = await Promise.all([accept(a, runId), accept(b, runId), accept(a, runId), accept(b, runId)]);
    expect(replies.map(({ status, body }) => body.error ?? status).toSorted()).toEqual([
      200,
      ...Array(3).fill('interrupt_already_resolved'),
    ]);
    await ended(nodes, runId);
  }
});

test('a run, its deletion, a workflow and a read token hold at the other node with the next request', async () => {
  const { nodes, a, b } = await pair();
  for (let i = 0; i < 8; i += 1) {
    const [one, other] = i % 2 === 0 ? [a, b] : [b, a];
    const { version: _, ...edited } = { ...chain('edited', { typeId: 'core.noop' }), name: `edit ${i}` };
    expect((await one.ask('POST', '/v1/workflows', { body: edited as never })).status).toBe(201);
    expect((await other.ask('GET', '/v1/workflows/edited')).body).toMatchObject({ name: `edit ${i}` });
    const runId = await started(other, 'edited');
    expect((await one.ask('GET', `/v1/runs/${runId}`)).status).toBe(200);
    expect((await one.ask('GET', '/v1/runs')).text).toContain(runId);
    await ended(nodes, runId);
    const { body } = await one.ask('POST', `/v1/runs/${runId}/tokens`, { body: {} });
    const events = `/v1/runs/${runId}/events?token=${body.token}`;
    const open = (node: TestNode) => node.ask('GET', events, { key: null, headers: { accept: 'application/json' } });
    expect([(await other.ask('GET', `/v1/runs/${runId}`)).body.status, (await open(other)).status]).toEqual([
      'completed',
      200,
    ]);
    expect((await one.ask('DELETE', `/v1/runs/${runId}/tokens/${body.tokenId}`)).status).toBe(204);
    expect((await open(other)).status).toBe(401);
    expect((await one.ask('DELETE', `/v1/runs/${runId}`)).status).toBe(200);
    for (const path of [`/v1/runs/${runId}`, `/v1/runs/${runId}/events/poll`])
      expect([path, (await other.ask('GET', path)).status]).toEqual([path, 410]);
    expect((await other.ask('GET', '/v1/runs')).text).not.toContain(runId);
  }
});

test('a fork and a retry of a run of another node have all of its events', async () => {
  const { nodes, a, b } = await pair();
  const runId = await started(a, 'approval');
  await asked(nodes, runId);
  const forked = await b.ask('POST', `/v1/runs/${runId}:fork`, { body: { mode: 'branch', fromSeq: 3 } });
  expect(forked.status).toBe(201);
  const branch = forked.body.runId as RunId;
  const read = async (node: TestNode, of: RunId) => {
    const { body } = await node.ask('GET', `/v1/runs/${of}/events`, { headers: { accept: 'application/json' } });
    return (body.events as { type: string; sequence: number }[]).map(({ type, sequence }) => `${sequence} ${type}`);
  };
  expect(await read(a, branch)).toEqual(await read(b, branch));
  expect((await read(a, branch)).slice(0, 3)).toEqual((await read(b, runId)).slice(0, 3));
  expect((await accept(a, branch)).status).toBe(200);
  await ended(nodes, branch);
  expect((await a.ask('GET', `/v1/runs/${runId}`)).body.status).toBe('waiting-approval');
  expect((await b.ask('DELETE', `/v1/runs/${runId}`)).status).toBe(409);
});

test('a run that one node streams goes on at another after any event', async () => {
  const { nodes, a, b } = await pair();
  const runId = await started(a, 'approval');
  await asked(nodes, runId);
  await accept(b, runId);
  await ended(nodes, runId);
  const streamed = async (node: TestNode, headers: Record<string, string> = {}) => {
    const response = await node.ask('GET', `/v1/runs/${runId}/events`, {
      headers: { accept: 'text/event-stream', ...headers },
    });
    return [...response.text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id);
  };
  const all = await streamed(a);
  expect(all.length).toBeGreaterThan(4);
  for (const [place, id] of all.entries())
    expect([id, await streamed(b, { 'last-event-id': id })]).toEqual([id, all.slice(place + 1)]);
});

test('the bytes of a tenant that one node takes and gives back count at the other', async () => {
  const { nodes, a, b } = await pair({ limits: { tenantLogBytes: 400_000 } } as never);
  const big = chain('big', { typeId: 'core.noop' });
  const inputs = { inputs: { text: 'x'.repeat(90_000) } };
  for (const node of [a, b]) await node.ask('POST', '/v1/workflows', { body: big as never });
  const start = (node: TestNode) => node.ask('POST', '/v1/runs', { body: { workflowId: 'big', ...inputs } });
  const runs: RunId[] = [];
  let last = await start(a);
  for (; last.status === 201; last = await start(a)) {
    runs.push(last.body.runId as RunId);
    await ended(nodes, last.body.runId as RunId);
  }
  expect([runs.length > 1, last.body.error, (await start(b)).body.error]).toEqual([
    true,
    'quota_exceeded',
    'quota_exceeded',
  ]);
  for (const runId of runs) expect((await a.ask('DELETE', `/v1/runs/${runId}`)).status).toBe(200);
  expect((await start(b)).status).toBe(201);
});
