/** A transaction of many rows is flushed beside the event loop: until then nobody is told of it and nobody sees it. */

import type { RunId } from '@cairn/protocol';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import { verifyChain } from '../../chain.ts';
import type { Commit } from '../../ports/event-log.ts';
import { creation, row, runA } from '../../ports/samples.kit.ts';
import { database, folders } from '../folder/folders.kit.ts';
import { assembleStore } from '../store.ts';
import { walFlush } from './wal-flush.ts';

const { fresh } = folders();

/** A store whose disk flushes when it is told to. */
function onSlowDisk() {
  const { db, file } = database(fresh());
  const underWay: ((error: unknown) => void)[] = [];
  const onFault = vi.fn();
  const closed = vi.fn();
  const clock = { at: 0, tick: 0 };
  const elapsedMs = () => (clock.at += clock.tick);
  const flush = (done: (error: unknown) => void) => void underWay.push(done);
  const store = assembleStore({ db, file, onFault, closed, flush, elapsedMs });
  const told: Commit[] = [];
  store.log.follow((commit) => told.push(commit));
  return {
    store,
    told,
    onFault,
    closed,
    /** What passes between two looks at it. */
    clock,
    flushes: () => underWay.length,
    /** The flush that is under way comes to its end. */
    flushed: (error: unknown = null) => present(underWay.shift())(error),
    levelOf: () => db.prepare('PRAGMA synchronous').get()?.synchronous,
  };
}

const FULL = 2;
const NORMAL = 1;

/** As many rows as are worth a flush by another thread. */
const many = (runId: RunId) => creation(runId, { rows: [row('run.started'), ...Array(199).fill(row('a'))] });
const runs = (count: number): RunId[] => Array.from({ length: count }, (_, i) => `run_${i}` as RunId);

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** What a promise has come to so far. */
function watched<Value>(promise: Promise<Value>) {
  const seen: { value?: Value; error?: unknown; isSettled: boolean } = { isSettled: false };
  promise.then(
    (value) => Object.assign(seen, { value, isSettled: true }),
    (error: unknown) => Object.assign(seen, { error, isSettled: true }),
  );
  return seen;
}

describe('a transaction of many rows', () => {
  it('is told to its writer and to followers once it is flushed, not before', async () => {
    const { store, told, flushes, flushed, levelOf } = onSlowDisk();
    const append = watched(store.log.append(many(runA)));
    await turn();
    await turn();
    expect(flushes()).toBe(1);
    expect(levelOf()).toBe(NORMAL);
    expect(append.isSettled).toBe(false);
    expect(told).toEqual([]);
    flushed();
    await turn();
    expect(append.value).toMatchObject({ seq: 0 });
    expect(told.map((commit) => commit.rows.length)).toEqual([200]);
    await store.close();
  });

  it('is not seen by any read before it is flushed', async () => {
    const { store, flushed } = onSlowDisk();
    void store.log.append(many(runA));
    await turn();
    const reads = [
      store.log.head(runA),
      store.log.read({ runId: runA, after: -1, limit: 1_000 }),
      store.runIndex.list({ tenant: 't', limit: 9 }),
      store.changes.end(),
      store.queue.due(),
      store.definitions.get('none'),
    ].map((read) => watched<unknown>(read));
    await turn();
    expect(reads.map((read) => read.isSettled)).toEqual(reads.map(() => false));
    flushed();
    await turn();
    expect(reads.map((read) => read.isSettled)).toEqual(reads.map(() => true));
    expect(present(reads[0]).value).toMatchObject({ seq: 199 });
    expect(present(reads[1]).value).toHaveLength(200);
    await store.close();
  });

  it('shows reads that waited for it nothing of the transaction that follows', async () => {
    const { store, flushes, flushed } = onSlowDisk();
    void store.log.append(many(runA));
    await turn();
    const next = watched(store.log.append({ runId: runA, rows: Array(150).fill(row('b')) }));
    const head = store.log.head(runA);
    flushed();
    expect(await head).toMatchObject({ seq: 199 });
    // It went to the disk at once, behind the first, and is not told before it is there.
    expect(flushes()).toBe(1);
    const later = watched(store.log.head(runA));
    await turn();
    expect([next.isSettled, later.isSettled]).toEqual([false, false]);
    flushed();
    await turn();
    expect(next.value).toMatchObject({ seq: 200 });
    expect(later.value).toMatchObject({ seq: 349 });
    await store.close();
  });

  it('is told in the order of the commits, also when the next one overtakes it on the way to the disk', async () => {
    const { store, told, flushed } = onSlowDisk();
    const [a, b, c] = runs(3) as [RunId, RunId, RunId];
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    void store.log.append(many(a)).then(note('a'));
    await turn();
    void store.log.append(many(b)).then(note('b'));
    void store.log.append({ runId: b, at: 5, rows: [row('x')] }).catch(note('refused'));
    flushed();
    void store.log.append(many(c)).then(note('c'));
    await turn();
    expect(order).toEqual(['a']);
    flushed();
    await turn();
    flushed();
    await turn();
    expect(order).toEqual(['a', 'b', 'refused', 'c']);
    expect(told.map((commit) => commit.runId)).toEqual([a, b, c]);
    await store.close();
  });

  it('is waited for by close', async () => {
    const { store, flushed } = onSlowDisk();
    const append = watched(store.log.append(many(runA)));
    await turn();
    const closed = watched(store.close());
    await turn();
    expect(closed.isSettled).toBe(false);
    await expect(store.log.head(runA)).rejects.toMatchObject({ code: 'store_closed' });
    flushed();
    await vi.waitFor(() => expect(closed.isSettled).toBe(true));
    expect(append.value).toMatchObject({ seq: 0 });
  });

  it('of a real disk is there, whole and chained', async () => {
    const { db, file } = database(fresh());
    const flushes = vi.fn();
    const wal = walFlush(`${file}-wal`);
    onTestFinished(() => wal.close());
    const flush = (done: (error: unknown) => void) => {
      flushes();
      wal.flush(done);
    };
    const store = assembleStore({ db, file, closed: () => {}, flush });
    await Promise.all(runs(64).map((runId) => store.log.append(creation(runId, { rows: Array(8).fill(row('a')) }))));
    expect(store.stats().commits).toBe(2);
    expect(flushes).toHaveBeenCalledTimes(2);
    for (const runId of runs(64)) {
      const rows = await rowsOf(store, runId);
      expect(rows).toHaveLength(8);
      expect(verifyChain(rows, runId)).toBeNull();
    }
    await store.close();
  });
});

describe('a transaction of few rows', () => {
  it('that waited for a flush takes in the work that the acknowledgement causes', async () => {
    const { store, flushed } = onSlowDisk();
    const [a, b, c] = runs(3) as [RunId, RunId, RunId];
    const caused = store.log.append(many(a)).then(() => store.log.append(creation(c)));
    await turn();
    const waiting = store.log.append(creation(b));
    const before = store.stats().commits;
    flushed();
    await Promise.all([caused, waiting]);
    expect(store.stats().commits - before).toBe(1);
    await store.close();
  });

  it('is flushed by its own commit while the disk is quick', async () => {
    const { store, flushes, levelOf } = onSlowDisk();
    await store.log.append(creation(runA));
    await store.log.append({ runId: runA, rows: [row('a')] });
    expect(flushes()).toBe(0);
    expect(levelOf()).toBe(FULL);
    await store.close();
  });

  it('goes the way of the many after a slow flush, and comes back however long those beside the event loop seem', async () => {
    const { store, flushes, flushed, levelOf, clock } = onSlowDisk();
    clock.tick = 1;
    await store.log.append(creation(runA));
    for (let beside = 0; beside < 4; beside += 1) {
      const append = store.log.append({ runId: runA, rows: [row('a')] });
      await turn();
      expect(flushes()).toBe(1);
      flushed();
      await append;
    }
    await store.log.append({ runId: runA, rows: [row('b')] });
    expect(flushes()).toBe(0);
    expect(levelOf()).toBe(FULL);
    await store.close();
  });
});

describe('a flush that fails', () => {
  const lost = { code: 'store_failed', retryable: true, message: expect.stringMatching(/cairn\.db.*EIO/) };

  it('fails what it was for and what waits, and nothing is read or written from then on', async () => {
    const { store, told, flushed, onFault, closed } = onSlowDisk();
    const [a, b, c] = runs(3) as [RunId, RunId, RunId];
    const appends = [store.log.append(many(a))];
    await turn();
    appends.push(store.log.append(creation(b)));
    const read = store.log.head(a);
    flushed(new Error('EIO: i/o error, fdatasync'));
    for (const append of appends) await expect(append).rejects.toMatchObject(lost);
    await expect(read).rejects.toMatchObject(lost);
    await expect(store.log.append(creation(c))).rejects.toMatchObject(lost);
    await expect(store.runIndex.list({ tenant: 't', limit: 9 })).rejects.toMatchObject(lost);
    expect(told).toEqual([]);
    expect(onFault.mock.calls).toEqual([[expect.objectContaining(lost)]]);
    await store.close();
    expect(closed.mock.calls).toEqual([['broken']]);
  });
});
