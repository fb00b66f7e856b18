import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, runPaused, runResumed, runsCancelled } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const slow = chain('slow', { typeId: 'core.delay', config: { delayMs: 3_600_000 } }, { typeId: 'core.noop' });

async function running(...workflowIds: readonly string[]): Promise<{ host: Served; ids: readonly string[] }> {
  const host = await served();
  for (const definition of [noop, approval, slow]) await host.engine.register('t', definition);
  const ids: string[] = [];
  for (const workflowId of workflowIds) {
    const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId } });
    ids.push(String(body.runId));
    if (workflowId === 'noop') await ended(host, String(body.runId));
  }
  return { host, ids };
}

const ended = (host: Served, runId: string) =>
  host.ask('GET', `/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } });

const statusOf = async (host: Served, runId: string) => (await host.ask('GET', `/v1/runs/${runId}`)).body.status;

test('pauses at once, shows it, and goes on after the resume', async () => {
  const { host, ids } = await running('slow');
  const path = `/v1/runs/${ids[0]}`;
  const paused = await host.ask('POST', `${path}:pause`, { body: { drainPolicy: 'immediate', reason: 'deploy' } });
  expect([paused.status, runPaused.parse(paused.body)]).toMatchObject([202, { runId: ids[0], status: 'paused' }]);
  expect(paused.body).toHaveProperty('pausedAt');
  expect(await statusOf(host, present(ids[0]))).toBe('paused');
  const listed = await host.ask('GET', '/v1/runs?status=paused');
  expect(listed.body.runs).toMatchObject([{ runId: ids[0], status: 'paused' }]);
  const resumed = await host.ask('POST', `${path}:resume`, { body: { reason: 'done' } });
  expect([resumed.status, runResumed.parse(resumed.body)]).toMatchObject([202, { runId: ids[0], status: 'running' }]);
  expect(await statusOf(host, present(ids[0]))).toBe('running');
  const { events } = (await host.ask('GET', `${path}/events`)).body as { events: readonly JsonObject[] };
  const pauses = events.filter(({ type }) => /^run\.(paused|resumed)$/.test(String(type)));
  expect(pauses.map(({ type, payload }) => [type, payload])).toEqual([
    ['run.paused', { drainPolicy: 'immediate', reason: 'deploy' }],
    ['run.resumed', { reason: 'done', resumedBy: 'alice' }],
  ]);
});

test('drains by default: the answer comes at once, the pause when the node under way has completed', async () => {
  const { host, ids } = await running('slow');
  const pause = (body: JsonObject) => host.ask('POST', `/v1/runs/${ids[0]}:pause`, { body });
  const reply = await host.ask('POST', `/v1/runs/${ids[0]}:pause`);
  expect([reply.status, reply.body]).toEqual([202, { runId: ids[0], status: 'paused' }]);
  expect(await statusOf(host, present(ids[0]))).toBe('running');
  expect(await pause({})).toMatchObject({ status: 409, body: { details: { runStatus: 'running' } } });
  const hurried = await pause({ drainPolicy: 'immediate' });
  expect([hurried.status, typeof hurried.body.pausedAt]).toEqual([202, 'string']);
});

test('a second pause is refused with the state of the first, unless it is the first one sent again', async () => {
  const { host, ids } = await running('slow');
  const pause = (key?: string) =>
    host.ask('POST', `/v1/runs/${ids[0]}:pause`, {
      body: { drainPolicy: 'immediate' },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  const first = await pause('k');
  expect(await pause()).toMatchObject({
    status: 409,
    body: { error: 'conflict', details: { runStatus: 'paused', pausedAt: first.body.pausedAt } },
  });
  expect((await pause('other')).status).toBe(409);
  const again = await pause('k');
  expect([again.status, again.text]).toEqual([202, first.text]);
});

test.for([
  ['noop', ':pause', 'run_terminal', 'completed'],
  ['noop', ':resume', 'run_terminal', 'completed'],
  ['slow', ':resume', 'conflict', 'running'],
  ['approval', ':pause', 'conflict', 'waiting-approval'],
  ['approval', ':resume', 'conflict', 'waiting-approval'],
] as const)('a run of %s refuses %s with %s and says that it is %s', async ([workflowId, verb, error, runStatus]) => {
  const { host, ids } = await running(workflowId);
  expect(await host.ask('POST', `/v1/runs/${ids[0]}${verb}`)).toMatchObject({
    status: 409,
    body: { error, details: { runStatus } },
  });
});

test.for([
  { drainPolicy: 'later' },
  { drainPolicy: null },
  { reason: 7 },
  { reason: 'x'.repeat(513) },
  { force: true },
])('a pause with %j is refused', async (body) => {
  const { host, ids } = await running('slow');
  expect((await host.ask('POST', `/v1/runs/${ids[0]}:pause`, { body })).status).toBe(400);
  expect(await statusOf(host, present(ids[0]))).toBe('running');
});

test('a paused run, a run that drains, and a scope that is taken survive the end of the host', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-paused-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = await served({ store: await openSqliteStore({ folder }) });
  await before.engine.register('t', slow);
  const start = (host: Served, scopeId: string) =>
    host.ask('POST', '/v1/runs', { body: { workflowId: 'slow', scopeId }, headers: { 'x-dedup': 'enforce' } });
  const [paused, draining] = [(await start(before, 'a')).body.runId, (await start(before, 'b')).body.runId];
  await before.ask('POST', `/v1/runs/${paused}:pause`, { body: { drainPolicy: 'immediate' } });
  await before.ask('POST', `/v1/runs/${draining}:pause`);
  await before.stop();
  const after = await served({ store: await openSqliteStore({ folder }) });
  expect(await statusOf(after, String(paused))).toBe('paused');
  expect((await start(after, 'a')).body).toMatchObject({
    error: 'run_already_active',
    details: { activeRunId: paused },
  });
  expect((await after.ask('POST', `/v1/runs/${paused}:resume`)).status).toBe(202);
  expect(await after.ask('POST', `/v1/runs/${draining}:pause`)).toMatchObject({ status: 409 });
  const hurried = await after.ask('POST', `/v1/runs/${draining}:pause`, { body: { drainPolicy: 'immediate' } });
  expect(hurried.body).toHaveProperty('pausedAt');
});

test('discovery says what is offered', async () => {
  const { body } = await (await served()).ask('GET', '/.well-known/openwop', { key: null });
  expect(body).toMatchObject({
    runs: { pauseResume: { supported: true, drainPolicies: ['immediate', 'drain-current-node'] } },
    restTransport: { conditionalRunGet: true },
    idempotency: { supported: true, layer1RetentionSeconds: 86_400 },
  });
});

test('a paused run can be cancelled', async () => {
  const { host, ids } = await running('slow');
  await host.ask('POST', `/v1/runs/${ids[0]}:pause`, { body: { drainPolicy: 'immediate' } });
  expect((await host.ask('POST', `/v1/runs/${ids[0]}/cancel`)).body).toMatchObject({ status: 'cancelled' });
});

test.for(['/cancel', ':cancel'])('%s leaves a run that is over as it is, and writes nothing', async (verb) => {
  const { host, ids } = await running('noop');
  const before = await host.store.log.head(ids[0] as never);
  expect(await host.ask('POST', `/v1/runs/${ids[0]}${verb}`, { body: { reason: 'late' } })).toMatchObject({
    status: 200,
    body: { runId: ids[0], status: 'completed' },
  });
  expect((await host.store.log.head(ids[0] as never))?.seq).toBe(before?.seq);
});

test('cancels many, one row each, in the order asked', async () => {
  const { host, ids } = await running('slow', 'noop', 'approval', 'slow');
  const [a, over, waiting, gone] = ids as [string, string, string, string];
  await host.ask('POST', `/v1/runs/${gone}/cancel`);
  const runIds = [waiting, 'run_unknown', over, a, 'no id at all', gone, a];
  const reply = await host.ask('POST', '/v1/runs:bulk-cancel', { body: { runIds, reason: 'cleanup' } });
  expect(reply.status).toBe(200);
  const { results } = runsCancelled.parse(reply.body);
  expect(results.map(({ runId, ok, status, error }) => [runId, ok, status ?? error?.error])).toEqual([
    [waiting, true, 'cancelled'],
    ['run_unknown', false, 'not_found'],
    [over, false, 'run_terminal'],
    [a, true, 'cancelled'],
    ['no id at all', false, 'not_found'],
    [gone, true, 'cancelled'],
    [a, true, 'cancelled'],
  ]);
  expect(results[2]?.error?.details).toMatchObject({ runStatus: 'completed' });
});

test('a run of another tenant is a row like that of a run that never was, and goes on', async () => {
  const { host, ids } = await running('slow');
  const [theirs, unknown] = [present(ids[0]), `${ids[0]}x`];
  const reply = await host.ask('POST', '/v1/runs:bulk-cancel', {
    key: keys.stranger,
    body: { runIds: [theirs, unknown] },
  });
  const rows = reply.body.results as readonly JsonObject[];
  expect(JSON.stringify(rows[0]).replaceAll(theirs, '…')).toBe(JSON.stringify(rows[1]).replaceAll(unknown, '…'));
  expect(await statusOf(host, theirs)).toBe('running');
});

test.for([[], Array.from({ length: 101 }, (_, i) => `run_${i}`), [7], ['x'.repeat(129)], 'run_1', null])(
  'a bulk cancel of %j is refused with the most it takes',
  async (runIds) => {
    const { host } = await running();
    expect(await host.ask('POST', '/v1/runs:bulk-cancel', { body: { runIds } })).toMatchObject({
      status: 400,
      body: { error: 'validation_error', details: { maxRunIds: 100 } },
    });
  },
);

test('answers 200 even if nothing could be cancelled, and takes 100 ids', async () => {
  const { host } = await running();
  const runIds = Array.from({ length: 100 }, (_, i) => `run_${i}`);
  const reply = await host.ask('POST', '/v1/runs:bulk-cancel', { body: { runIds } });
  expect([reply.status, (reply.body.results as readonly JsonObject[]).filter(({ ok }) => ok)]).toEqual([200, []]);
});
