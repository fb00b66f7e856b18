/** Purging over HTTP: one tree, everything of it, and only by those who may. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { emptyStore } from '../../log/empty-store.kit.ts';
import { createHost } from '../create-host.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keyWith, served } from '../served.kit.ts';

const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'runs:delete', 'approvals:respond'] as const;
const parent = chain('parent', { typeId: 'core.subWorkflow', config: { workflowId: 'noop' } });

async function opened(config: object = {}) {
  const data = await mkdtemp(join(tmpdir(), 'cairn-purge-'));
  const keyOf = (tenant: string) => `a-key-of-tenant-${tenant}-for-these-tests`;
  const host = await createHost({
    config: {
      port: 0,
      data,
      keys: [
        { key: keyOf('a'), tenant: 'a', scopes: [...scopes] },
        { key: keyOf('b'), tenant: 'b', scopes: [...scopes] },
        { key: keyOf('plain'), tenant: 'a' },
      ],
      ...config,
    },
    workflows: [noop, approval, parent],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    await rm(data, { recursive: true, force: true });
  });
  const clientOf = (name: string) => createClient({ url: host.url ?? '', key: keyOf(name), retries: 0 });
  return { data, a: clientOf('a'), b: clientOf('b'), plain: clientOf('plain') };
}

async function ended(client: Client, workflowId = 'noop'): Promise<string> {
  const { runId } = await client.runs.create({ workflowId });
  await client.runs.wait(runId);
  return runId;
}

test('purges a run: reads answer 410, lists leave it out, its files are gone, and a second time changes nothing', async () => {
  const { a, data } = await opened();
  const runId = await ended(a);
  const other = await ended(a);
  const files = join(data, 'runs', runId, 'files');
  await mkdir(files, { recursive: true });
  await writeFile(join(files, 'notes.txt'), 'x');
  const purged = await a.runs.delete(runId);
  expect(purged).toMatchObject({ runId, purged: true, runs: 1, forks: [] });
  expect(purged.events).toBeGreaterThan(2);
  const gone = { code: 'run_purged', details: { runId, purgedAt: expect.any(String) } };
  await expect(a.runs.get(runId)).rejects.toMatchObject({ ...gone, status: 410 });
  await expect(a.events.all(runId)).rejects.toMatchObject(gone);
  await expect(a.events.poll(runId)).rejects.toMatchObject(gone);
  await expect(a.runs.cancel(runId)).rejects.toMatchObject(gone);
  await expect(a.runs.debugBundle(runId)).rejects.toMatchObject(gone);
  expect((await a.runs.list()).runs.map((run) => run.runId)).toEqual([other]);
  expect(existsSync(join(data, 'runs', runId))).toBe(false);
  expect(await a.runs.delete(runId)).toMatchObject({ purged: true, runs: 0, events: 0 });
  expect(await a.runs.get(other)).toMatchObject({ status: 'completed' });
});

test('purges the runs below it too, and refuses a run that is part of a larger tree by naming its root', async () => {
  const { a } = await opened();
  const runId = await ended(a, 'parent');
  const [child] = (await a.runs.list({ workflowId: 'noop' })).runs;
  const childId = String(child?.runId);
  const refusal = { code: 'conflict', details: { runId: childId, rootRunId: runId } };
  await expect(a.runs.delete(childId)).rejects.toMatchObject(refusal);
  expect(await a.runs.delete(runId)).toMatchObject({ runs: 2 });
  await expect(a.runs.get(childId)).rejects.toMatchObject({ code: 'run_purged' });
  expect((await a.runs.list()).runs).toEqual([]);
});

test('a dry run says what would go, and nothing goes', async () => {
  const { a } = await opened();
  const runId = await ended(a, 'parent');
  const planned = await a.runs.delete(runId, { dryRun: true });
  expect(planned).toMatchObject({ runId, purged: false, runs: 2 });
  expect(await a.runs.get(runId)).toMatchObject({ status: 'completed' });
  const { events, bytes } = await a.runs.delete(runId);
  expect({ events, bytes }).toEqual({ events: planned.events, bytes: planned.bytes });
});

test('refuses an active run with the next step', async () => {
  const { a } = await opened();
  const { runId } = await a.runs.create({ workflowId: 'approval' });
  await a.runs.wait(runId);
  for (const dryRun of [true, false]) {
    const refusal = {
      code: 'conflict',
      details: { runStatus: 'waiting-approval' },
      hint: expect.stringContaining('ancel'),
    };
    await expect(a.runs.delete(runId, { dryRun, force: true })).rejects.toMatchObject({
      code: refusal.code,
      details: refusal.details,
    });
  }
  await a.runs.cancel(runId);
  expect(await a.runs.delete(runId)).toMatchObject({ purged: true });
});

test('a fork keeps its source, unless told; then every view of the fork says what is gone', async () => {
  const { a } = await opened();
  const runId = await ended(a, 'approval');
  const { events } = await a.events.poll(runId);
  const { runId: forkId } = await a.runs.fork(runId, { mode: 'branch', fromSeq: events.length - 1 });
  await a.runs.cancel(forkId);
  await a.runs.cancel(runId);
  const kept = { code: 'conflict', details: { runId, forks: [forkId] } };
  for (const dryRun of [true, false]) await expect(a.runs.delete(runId, { dryRun })).rejects.toMatchObject(kept);
  expect(await a.runs.delete(runId, { force: true, dryRun: true })).toMatchObject({ purged: false, forks: [forkId] });
  expect((await a.events.all(forkId)).length).toBeGreaterThan(events.length);
  expect(await a.runs.delete(runId, { force: true })).toMatchObject({ purged: true, forks: [forkId] });
  const lost = { code: 'run_purged', status: 410, details: { runId: forkId } };
  await expect(a.events.all(forkId)).rejects.toMatchObject(lost);
  await expect(a.events.poll(forkId)).rejects.toMatchObject(lost);
  await expect(a.runs.fork(forkId, { mode: 'replay' })).rejects.toMatchObject({ status: 422 });
  await expect(a.runs.fork(runId, { mode: 'replay' })).rejects.toMatchObject({ status: 422 });
  expect((await a.runs.list()).runs.map((run) => run.runId)).toEqual([forkId]);
  expect(await a.runs.delete(forkId)).toMatchObject({ purged: true });
});

test("needs its own scope, and finds no other tenant's run, purged or not", async () => {
  const { a, b, plain } = await opened();
  const runId = await ended(a);
  await expect(plain.runs.delete(runId)).rejects.toMatchObject({
    code: 'forbidden',
    details: { scopeRequired: 'runs:delete' },
  });
  await expect(b.runs.delete(runId)).rejects.toMatchObject({ code: 'not_found' });
  await a.runs.delete(runId);
  await expect(b.runs.delete(runId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(b.runs.get(runId)).rejects.toMatchObject({ code: 'not_found' });
});

test('a plan shows the rules for the tenant and its runs that would go', async () => {
  const retention = [{ tenant: 'b', afterDays: 1 }, { workflow: 'parent', afterDays: 5 }, { keepLast: 1 }];
  const { a, b } = await opened({ retention });
  const first = await ended(a);
  await ended(a);
  await ended(b);
  const plan = await a.retention();
  expect(plan).toMatchObject({ rules: retention.slice(1), truncated: false });
  expect(plan.runs.map((run) => run.runId)).toEqual([first]);
  expect((await b.retention()).runs).toEqual([]);
});

test('a purge that takes long is answered with 202: the run reads as purged, and the rest goes on', async () => {
  const store = await emptyStore();
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { purgeSome } = store.purges;
  store.purges.purgeSome = async (runId) => {
    begun.resolve();
    await held.promise;
    return purgeSome(runId);
  };
  const host = await served({ store });
  await host.engine.register('t', noop);
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
  const path = `/v1/runs/${body.runId}`;
  await host.ask('GET', `${path}/events`, { headers: { accept: 'text/event-stream' } });
  const key = keyWith('runs:delete');
  const reply = host.ask('DELETE', path, { key });
  await begun.promise;
  host.timers.pass(10_000);
  expect(await reply).toMatchObject({ status: 202, body: { runId: body.runId, purged: false, runs: 1 } });
  expect(await host.ask('GET', path)).toMatchObject({ status: 410, body: { error: 'run_purged' } });
  held.resolve();
  expect(await host.ask('DELETE', path, { key })).toMatchObject({ status: 200, body: { purged: true, runs: 0 } });
});
