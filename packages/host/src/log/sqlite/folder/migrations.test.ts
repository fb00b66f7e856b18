/** A database of an earlier program is brought up to date with what its rows say. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { purge } from '../../ports/purging.kit.ts';
import { rowBytes } from '../../ports/row-bytes.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { contextIndex, indexOlderRows, indexRows } from './context-index.ts';
import { credentialTables } from './credential-tables.ts';
import { expiringTable } from './expiring-table.ts';
import { folders, open, undo } from './folders.kit.ts';
import { idempotencyTable } from './idempotency-table.ts';
import { migrate } from './migrate.ts';
import { openDatabase, openSqliteStore } from './open.ts';
import { openReadOnly } from './read-only.ts';
import { agentsOfOlderRuns, runSummaries } from './run-summaries.ts';

const { fresh } = folders();

const vote = (interruptId: string, decidedBy: string) =>
  row('approval.received', { nodeId: 'gate', payload: JSON.stringify({ interruptId, decidedBy, action: 'accept' }) });

it('finds the place of each question, and the votes on those that are open', async () => {
  const folder = fresh();
  const store = await open(folder);
  const rows = [started(), asked('i1'), vote('i1', 'ada'), resolved('i1'), vote('i1', 'bob'), asked('i2')];
  await store.log.append(creation(runA, { rows: [...rows, vote('i2', 'ada'), vote('i2', 'bob')] }));
  await store.log.append(creation(runB, { rows: [started(), row('node.started'), asked('i1')] }));
  const before = [await store.runIndex.interrupts(runA), await store.runIndex.interrupts(runB)];
  await store.close();
  undo(folder, 'where interrupts were asked, and the votes on them');
  const reopened = await open(folder);
  expect([await reopened.runIndex.interrupts(runA), await reopened.runIndex.interrupts(runB)]).toEqual(before);
  expect(await reopened.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
  await reopened.close();
});

it('finds what the runs below a run wait for, the tags of every run, and the questions of each tenant', async () => {
  const folder = fresh();
  const store = await open(folder);
  const ids = Array.from({ length: 9 }, (_, depth) => `run_${depth}` as RunId);
  for (const [depth, runId] of ids.entries()) {
    const create = { tenant: 't', contextId: context, originRunId: runId, parentRunId: ids[depth - 1] };
    const rows = depth === 8 ? [started(), asked('i1', 'clarification')] : [started()];
    await store.log.append(creation(runId, { create, rows }));
  }
  const picture = async ({ runIndex }: typeof store) => [
    await runIndex.list({ tenant: 't', status: 'waiting-input', limit: 99 }),
    await runIndex.list({ tenant: 't', status: 'waiting-input', tag: 'red', workflowId: 'wf', limit: 99 }),
    await runIndex.pending({ tenant: 't', limit: 9 }),
  ];
  const before = await picture(store);
  expect(before).toMatchObject([{ runs: { length: 9 } }, { runs: { length: 9 } }, { interrupts: { length: 1 } }]);
  await store.close();
  undo(folder, 'an index for every pair of list filters, and what child runs wait for');
  const reopened = await open(folder);
  expect(await picture(reopened)).toEqual(before);
  expect(await reopened.runIndex.rebuild()).toEqual({ runs: 9, repaired: 0 });
  await reopened.close();
});

it('finds what older runs are about, what they used and what they wait for', async () => {
  const folder = fresh();
  const store = await open(folder);
  const usage = row('provider.usage', { payload: JSON.stringify({ inputTokens: 2, outputTokens: 1 }) });
  await store.log.append(creation(runA, { rows: [started({ inputs: { topic: 'boats' } }), usage, asked('i1')] }));
  await store.log.append(creation(runB, { rows: [started(), usage, row('run.completed')] }));
  const fork = { sourceRunId: runA, fromSeq: 3, mode: 'branch' } as const;
  const contextId = 'ctx_fork' as ContextId;
  await store.log.fork({ runId: 'run_f' as RunId, tenant: 't', contextId, originRunId: runA, at: 9_000, fork });
  const picture = async ({ runIndex }: typeof store) => [
    await runIndex.list({ tenant: 't', limit: 9 }),
    await runIndex.pending({ tenant: 't', limit: 9 }),
  ];
  const before = await picture(store);
  expect(before[0]).toMatchObject({ runs: [{ summary: { title: 'boats', waitingOn: expect.any(String) } }, {}, {}] });
  await store.close();
  undo(folder, runSummaries.name);
  using older = new DatabaseSync(join(folder, 'cairn.db'));
  older.exec("INSERT INTO shared_rows SELECT key, 3, 1 FROM runs WHERE id = 'run_f'");
  older.close();
  const reopened = await open(folder);
  expect(await picture(reopened)).toEqual(before);
  expect(await reopened.runIndex.rebuild()).toEqual({ runs: 3, repaired: 0 });
  await reopened.close();
});

it('names the agents that worked in older runs, instead of those that they could ask', async () => {
  const folder = fresh();
  const store = await open(folder);
  const works = row('agent.invocation.started', { payload: JSON.stringify({ agentId: 'a:2' }) });
  const agents = { 'a:1': { hash: 'h' }, 'a:2': { hash: 'h' } };
  await store.log.append(creation(runA, { rows: [started({ inputs: { topic: 'boats' }, agents }), works] }));
  const before = await store.runIndex.list({ tenant: 't', limit: 9 });
  expect(before).toMatchObject({ runs: [{ summary: { title: 'boats', agents: ['a:2'] } }] });
  await store.close();
  undo(folder, agentsOfOlderRuns.name);
  using older = new DatabaseSync(join(folder, 'cairn.db'));
  older.exec(`UPDATE runs SET summary = json_set(summary, '$.agents', json('["a:1","a:2"]'))`);
  older.close();
  const reopened = await open(folder);
  expect(await reopened.runIndex.list({ tenant: 't', limit: 9 })).toEqual(before);
  await reopened.close();
});

it('counts the bytes of a tenant from the migration on', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA));
  await store.close();
  undo(folder, 'each large value of a run once, and the bytes of a tenant');
  const reopened = await open(folder);
  expect(await reopened.runIndex.tenantLogBytes('t')).toBe(0);
  await reopened.log.append({ runId: runA, rows: [row('a')] });
  expect(await reopened.runIndex.tenantLogBytes('t')).toBe(rowBytes(row('a')));
  expect(await reopened.log.read({ runId: runA, after: -1, limit: 9 })).toMatchObject([started(), row('a')]);
  await reopened.close();
});

it('marks what is written from the migration on, and finds nothing wrong with what was there before', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA, { rows: [started(), row('run.completed')] }));
  await store.close();
  undo(folder, 'marks of what no hash covers; cursors without gaps');
  const reopened = await open(folder);
  await reopened.log.append(creation(runB, { rows: [started(), row('run.completed')] }));
  await purge(reopened, runB);
  await reopened.close();
  using db = new DatabaseSync(join(folder, 'cairn.db'));
  expect(db.prepare("SELECT value FROM folder_facts WHERE name = 'dense_after'").get()).toEqual({ value: '2' });
  expect(db.prepare('SELECT count(mark) AS marked FROM tombstones').get()).toEqual({ marked: 2 });
});

it('adds credentials to a database that had none', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA));
  await store.close();
  undo(folder, credentialTables.name);
  const reopened = await open(folder);
  const record = {
    ref: 'c',
    tenant: 't',
    principal: '',
    provider: 'p',
    scopes: [],
    sealed: 's',
    expiresAt: 1,
    storedAt: 0,
  };
  await reopened.credentials.put(record);
  await reopened.close();
  const again = await open(folder);
  expect(await again.credentials.get('c')).toEqual(record);
  await again.close();
});

it('takes over the sessions and tokens that were ended', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA));
  await store.close();
  undo(folder, expiringTable.name);
  using db = new DatabaseSync(join(folder, 'cairn.db'));
  const ended = [
    ['"a \\"b" s-1', 100],
    ['"t" read:x', 200.5],
  ];
  db.prepare('INSERT INTO marks VALUES (?, ?)').run('sessions.ended', JSON.stringify(ended));
  db.close();
  const reopened = await open(folder);
  const found = (kind: string, name: string) => reopened.expiring.get({ kind, name }, 0);
  expect(await found('ended-session', '"a \\"b" s-1')).toMatchObject({ owner: 'a "b', expiresAt: 100 });
  expect(await found('revoked-token', '"t" read:x')).toMatchObject({ owner: 't', expiresAt: 200.5 });
  expect(await reopened.checkpoints.position('sessions.ended')).toBeNull();
  await reopened.close();
});

it('is reported before each step, and only for a database that has something to migrate', async () => {
  const folder = fresh();
  const told: string[] = [];
  const reporting = async () => {
    const store = await openSqliteStore({ folder, onMigration: ({ number, of }) => told.push(`${number} of ${of}`) });
    await store.close();
  };
  await reporting();
  await reporting();
  expect(told).toEqual([]);
  undo(folder, 'what agents remember');
  await reporting();
  const count = Number(present(told.at(-1)).split(' of ')[1]);
  expect(told).toEqual(Array.from({ length: told.length }, (_, i) => `${count - told.length + 1 + i} of ${count}`));
  expect(told.length).toBeGreaterThan(1);
});

it('finds the rows of contexts and the columns of faces, going on where it was cut off', async () => {
  const folder = fresh();
  const store = await open(folder);
  const face = (kind: string) => ({ task: JSON.stringify({ kind }) });
  await store.log.append(creation(runA, { rows: [started(), row('x', face('task-created'))] }));
  await store.log.append(creation(runB));
  for (const runId of [runA, runA, runB, runA]) await store.log.append({ runId, rows: [row('y', face('error'))] });
  const picture = ({ log }: typeof store) => log.read({ contextId: context, afterCursor: 0, limit: 99 });
  const before = await picture(store);
  expect(before.filter((found) => found.face !== 0).length).toBe(5);
  await store.close();
  undo(folder, contextIndex.name);
  const file = join(folder, 'cairn.db');
  const db = openDatabase(file);
  migrate(db, file, { before: indexOlderRows.name });
  const steps: number[] = [];
  const cut = () =>
    indexRows(
      new Proxy(db, {
        get(of, name) {
          const value: unknown = Reflect.get(of, name, of);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]) => {
            if (given[0] === 'BEGIN IMMEDIATE' && steps.push(1) > 2) throw new Error('power cut');
            return Reflect.apply(value, of, given);
          };
        },
      }),
      { stepRows: 2, onProgress: () => {} },
    );
  expect(cut).toThrow('power cut');
  db.close();
  const reopened = await open(folder);
  expect(await picture(reopened)).toEqual(before);
  await reopened.log.append({ runId: runA, rows: [row('z')] });
  await reopened.close();
  const log = openReadOnly(folder);
  const problems: string[] = [];
  log.checks.folder(
    (_, message) => problems.push(message),
    () => {},
  );
  log.close();
  expect(problems).toEqual([]);
});

it('lets runs of before the migration be forked, and finds no fork among them', async () => {
  const folder = fresh();
  const store = await open(folder);
  const rows = [started(), asked('i1'), ...Array.from({ length: 2_100 }, (_, i) => row(`r${i}`)), resolved('i1')];
  await store.log.append(creation(runA, { rows }));
  const before = await store.log.read({ runId: runA, after: -1, limit: 9 });
  await store.close();
  undo(folder, 'forks, and checkpoints along a run');
  const reopened = await open(folder);
  expect(await reopened.log.read({ runId: runA, after: -1, limit: 9 })).toEqual(before);
  expect(present(await reopened.log.head(runA)).record.fork).toBeNull();
  const place = { runId: runB, tenant: 't', contextId: 'ctx_fork' as ContextId, originRunId: runA, at: 9_000 };
  await reopened.log.fork({
    ...place,
    fork: { sourceRunId: runA, fromSeq: 2_050, mode: 'branch' },
    rows: [row('own')],
  });
  expect(await reopened.log.read({ runId: runB, after: 2_048, limit: 9 })).toMatchObject([
    { seq: 2_049, type: 'r2047', runId: runB },
    { seq: 2_050, type: 'own' },
  ]);
  expect(await reopened.runIndex.interrupts(runB)).toMatchObject([{ interruptId: 'i1', open: true, runId: runB }]);
  expect(await reopened.runIndex.interrupts(runA)).toMatchObject([{ interruptId: 'i1', open: false }]);
  expect(await reopened.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
  await reopened.close();
});

it('keeps the records of requests, of which each still belongs to its run', async () => {
  const folder = fresh();
  const store = await open(folder);
  const request = { tenant: 't', endpoint: 'POST /v1/runs', requestDigest: 'sha' };
  const answer = { state: 'completed', owner: null, until: null, status: 201, headers: '{}', body: '{}' } as const;
  const record = (key: string, at: number) => ({ ...request, key, ...answer, at });
  await store.log.append(
    creation(runA, { rows: [started(), row('run.completed')], idempotency: [{ record: record('b', 2), owner: null }] }),
  );
  await store.idempotency.save({ record: record('a', 9), owner: null });
  expect(await store.idempotency.claim({ ...request, key: 'c', owner: 'me', now: 9, until: 99 })).toBeNull();
  const picture = ({ idempotency }: typeof store) =>
    Promise.all(['a', 'b', 'c'].map((key) => idempotency.get({ ...request, key })));
  const before = await picture(store);
  expect(before).toMatchObject([{ at: 9 }, { at: 2 }, { owner: 'me', until: 99 }]);
  await store.close();
  undo(folder, idempotencyTable.name);
  const reopened = await open(folder);
  expect(await picture(reopened)).toEqual(before);
  expect(await reopened.idempotency.expireSome(2)).toBe(0);
  await purge(reopened, runA);
  expect(await picture(reopened)).toEqual([before[0], null, before[2]]);
  await reopened.close();
});
