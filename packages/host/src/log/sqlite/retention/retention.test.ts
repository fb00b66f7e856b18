/** Purging in the database file: crashes in between, tombstones, and space that goes back to the disk. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { verifyChain } from '../../chain.ts';
import { isTombstone } from '../../ports/rows.ts';
import { creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open, undo } from '../folder/folders.kit.ts';
import { openReadOnly } from '../folder/read-only.ts';
import type { SqliteStore } from '../store.ts';

const { fresh, copyOf } = folders();
const ended = row('run.completed');

async function purge({ purges }: SqliteStore, runId: RunId, maxSteps = Number.POSITIVE_INFINITY): Promise<number> {
  await purges.retire(runId, 9_000);
  let steps = 0;
  while (steps < maxSteps) {
    steps += 1;
    if ((await purges.purgeSome(runId)).isDone) return steps;
  }
  return steps;
}

const body = (i: number): string => JSON.stringify({ i, text: 'x'.repeat(1_500) });
const rows = Array.from({ length: 1_000 }, (_, i) => row('log.appended', { payload: body(i) }));

it.each([1, 2, 5, 9])('goes on after a power cut behind step %i, and counts every byte once', async (steps) => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runB));
  const other = await store.runIndex.tenantLogBytes('t');
  await store.log.append(creation(runA, { rows: [started(), ...rows, ended] }));
  await purge(store, runA, steps);
  const after = copyOf(folder);
  const used = await store.runIndex.tenantLogBytes('t');
  await store.close();
  const next = await open(after);
  expect(await next.runIndex.tenantLogBytes('t')).toBe(used);
  expect(await next.purges.unfinished(9)).toEqual([runA]);
  expect(await next.log.head(runA)).toBeNull();
  await purge(next, runA);
  expect(await next.runIndex.tenantLogBytes('t')).toBe(other);
  await next.close();
});

it('moves few events in each step, however long the run is, and at most one that is large', async () => {
  const store = await open(fresh());
  const large = Array.from({ length: 6 }, (_, i) => row('b', { payload: `{"v":"${String(i).repeat(700_000)}"}` }));
  const small = Array.from({ length: 5_000 }, (_, i) => row('log.appended', { payload: `{"i":${i}}` }));
  await store.log.append(creation(runA, { rows: [started()] }));
  for (const rows of [small, large.slice(0, 3), large.slice(3), [ended]]) await store.log.append({ runId: runA, rows });
  await store.purges.retire(runA, 9_000);
  let events = 0;
  for (;;) {
    const step = await store.purges.purgeSome(runA);
    events += step.events;
    expect(step.events).toBeLessThanOrEqual(64);
    expect(step.bytes).toBeLessThan(2 * 1_048_576);
    if (step.isDone) break;
  }
  expect(events).toBe(5_008);
  await store.close();
});

it('leaves tombstones that still form the chain, without any text of the run', async () => {
  const folder = fresh();
  const store = await open(folder);
  const secret = 'a sentence that must not stay';
  const large = JSON.stringify({ text: secret.repeat(400) });
  await store.log.append(
    creation(runA, { rows: [started({ tags: [secret] }), row('a', { payload: large, task: large }), ended] }),
  );
  const { hash } = present(await store.log.head(runA));
  await purge(store, runA);
  await store.close();
  const log = openReadOnly(folder);
  const run = present(log.run(runA));
  expect(run).toMatchObject({ seq: 2, hash, purgedAt: 9_000 });
  const left = [...log.rows(run)];
  expect(left.map(({ seq, type }) => [seq, type])).toEqual([
    [0, 'run.started'],
    [1, 'a'],
    [2, 'run.completed'],
  ]);
  expect(left.every(isTombstone)).toBe(true);
  expect(verifyChain(left, runA)).toBeNull();
  expect(verifyChain(left.with(1, { ...present(left[1]), rowHash: present(left[0]).rowHash }), runA)).toEqual({
    seq: 1,
    reason: 'chain-hash',
  });
  log.close();
  using db = new DatabaseSync(join(folder, 'cairn.db'));
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'memory_words%'")
    .all();
  for (const { name } of tables) {
    for (const columns of db.prepare(`SELECT * FROM "${String(name)}"`).all()) {
      expect(JSON.stringify(columns), String(name)).not.toContain(secret);
    }
  }
});

it('gives the space back: the file shrinks while the store is open', async () => {
  const folder = fresh();
  const store = await open(folder);
  const fileBytes = () => statSync(join(folder, 'cairn.db')).size;
  const ids = Array.from({ length: 8 }, (_, i) => `run_${i}` as RunId);
  for (const runId of ids) {
    const values = Array.from({ length: 5 }, (_, i) => row('b', { payload: `{"v":"${String(i).repeat(50_000)}"}` }));
    await store.log.append(creation(runId, { rows: [started(), ...rows, ...values, ended] }));
  }
  await store.purges.shrink();
  const full = fileBytes();
  for (const runId of ids.slice(1)) await purge(store, runId);
  let space = await store.purges.releaseSome();
  expect(space.isReleasable).toBe(true);
  const before = space.bytes;
  expect(before).toBeGreaterThan(full / 2);
  while (space.bytes > 0) {
    const next = await store.purges.releaseSome();
    expect(next.bytes).toBeLessThan(space.bytes);
    space = next;
  }
  await store.purges.shrink();
  expect(fileBytes()).toBeLessThanOrEqual(full - before);
  expect(await store.runIndex.rebuild()).toEqual({ runs: 1, repaired: 0 });
  await store.close();
});

it('says that the file of an older folder cannot shrink, and goes on without', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA, { rows: [started(), ...rows, ended] }));
  await store.close();
  {
    using db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec('PRAGMA auto_vacuum = NONE');
    db.exec('VACUUM');
  }
  const older = await open(folder);
  await purge(older, runA);
  expect(await older.purges.releaseSome()).toMatchObject({ isReleasable: false });
  await older.close();
});

it('purges a run of a folder from before there was retention', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA, { rows: [started(), ...rows, ended] }));
  await store.close();
  undo(folder, 'what is left of purged runs');
  const older = openReadOnly(folder);
  expect(() => older.run(runA)).toThrow('this program reads runs of version');
  older.close();
  const next = await open(folder);
  expect(await next.log.head(runA)).toMatchObject({ seq: 1_001 });
  await purge(next, runA);
  expect(await next.log.purged(runA)).toMatchObject({ seq: 1_001 });
  await next.close();
});
