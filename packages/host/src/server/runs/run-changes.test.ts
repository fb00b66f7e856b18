import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

async function changes(host: Served, after?: unknown, key = keys.alice) {
  const query = after === undefined ? '' : `?after=${after}`;
  const { status, body } = await host.ask('GET', `/v1/host/cairn/run-changes${query}`, { key });
  return { status, error: body.error, runs: body.runs as readonly JsonObject[], position: body.position };
}

test('tells which runs of the tenant changed since a position, once each, as the list shows them', async () => {
  const host = await served();
  for (const definition of [noop, approval]) await host.engine.register('t', definition);
  const begin = await changes(host);
  expect(begin).toMatchObject({ status: 200, runs: [] });
  const inputs = { topic: 'Tides' };
  const { runId } = (await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval', inputs, tags: ['x'] } }))
    .body;
  await expect.poll(async () => (await changes(host, begin.position)).runs[0]?.status).toBe('waiting-approval');
  const first = await changes(host, begin.position);
  expect(first.runs).toMatchObject([
    {
      runId,
      tags: ['x'],
      summary: { title: 'Tides', agents: [], waitingOn: expect.any(String), tokens: { input: 0, output: 0 }, usd: 0 },
    },
  ]);
  expect(first.runs).toEqual((await host.ask('GET', '/v1/runs')).body.runs);
  expect(await changes(host, first.position)).toMatchObject({ runs: [] });
  await host.ask('POST', `/v1/runs/${runId}/cancel`);
  await expect.poll(async () => (await changes(host, first.position)).runs[0]?.status).toBe('cancelled');
});

test('a position is good for the tenant it was given to, and shows nothing of others', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const { position } = await changes(host);
  const theirs = await changes(host, undefined, keys.stranger);
  await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
  await expect.poll(async () => (await changes(host, position)).runs.length).toBe(1);
  expect(await changes(host, theirs.position, keys.stranger)).toMatchObject({ status: 200, runs: [] });
  expect(await changes(host, position, keys.stranger)).toMatchObject({ status: 400, error: 'validation_error' });
  expect(await changes(host, 'x')).toMatchObject({ status: 400, error: 'validation_error' });
});

const family = async (host: Served, query: string) => {
  const { status, body } = await host.ask('GET', `/v1/runs?${query}`);
  return { status, error: body.error, runs: body.runs as readonly JsonObject[] };
};

test('the list and the changes count the runs that a run started, and the list holds these or leaves them out', async () => {
  const host = await served();
  const parent = chain('parent', { typeId: 'core.subWorkflow', config: { workflowId: 'noop' } });
  for (const definition of [noop, parent]) await host.engine.register('t', definition);
  const { position } = await changes(host);
  const { runId } = (await host.ask('POST', '/v1/runs', { body: { workflowId: 'parent' } })).body;
  await expect.poll(async () => (await host.ask('GET', `/v1/runs/${runId}`)).body.status).toBe('completed');
  const roots = await family(host, 'parentRunId=none');
  expect(roots.runs).toMatchObject([{ runId, summary: { childCount: 1 } }]);
  const children = await family(host, `parentRunId=${runId}`);
  expect(children.runs).toMatchObject([{ workflowId: 'noop', parentRunId: runId }]);
  expect(children.runs[0]?.summary).not.toHaveProperty('childCount');
  // A filter finds a child too.
  expect((await family(host, 'workflowId=noop')).runs).toEqual(children.runs);
  expect((await changes(host, position)).runs).toEqual(expect.arrayContaining([...roots.runs, ...children.runs]));
});

test.each([
  ['parentRunId=none&tag=x', 400, 'validation_error'],
  ['parentRunId=run_1&status=failed', 400, 'validation_error'],
  ['parentRunId=run_nobody', 404, 'not_found'],
  ['parentRunId=', 404, 'not_found'],
])('refuses the runs of %s', async (query, status, error) => {
  expect(await family(await served(), query)).toMatchObject({ status, error });
});

test('the runs below a run of another tenant are not found', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const { runId } = (await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } })).body;
  const { status } = await host.ask('GET', `/v1/runs?parentRunId=${runId}`, { key: keys.stranger });
  expect(status).toBe(404);
});
