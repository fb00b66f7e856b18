import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain } from '../../../test/kit/engine-bench.ts';
import type { RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { LargeFolds } from './large-folds.ts';
import { createLoadView } from './run-view.ts';

/** Folds that are over when the test says so. A run has this many pages. */
function folding(pages: number) {
  const waiting: (() => void)[] = [];
  const begun: number[] = [];
  const fold = async (mostPages: number) => {
    begun.push(mostPages);
    if (mostPages < pages) return null;
    if (mostPages > 1) await new Promise<void>((resolve) => waiting.push(resolve));
    return pages;
  };
  return { fold, begun, waiting };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('two large runs of a tenant are folded at a time; those of others and small ones do not wait', async () => {
  const folds = new LargeFolds();
  const [large, others, small] = [folding(3), folding(3), folding(1)];
  const all = [1, 2, 3, 4].map(() => folds.take('a', large.fold));
  await settled();
  expect(large.waiting).toHaveLength(2);
  void folds.take('b', others.fold);
  expect(await folds.take('a', small.fold)).toBe(1);
  await settled();
  expect([large.waiting.length, others.waiting.length]).toEqual([2, 1]);
  large.waiting.shift()?.();
  await settled();
  // One began in its place, anew: one page each, and three of them whole.
  expect(large.begun.filter((most) => most > 1)).toHaveLength(3);
  for (let left = 3; left > 0; left -= 1) {
    large.waiting.shift()?.();
    await settled();
  }
  expect(await Promise.all(all)).toEqual([3, 3, 3, 3]);
});

test('a fold that fails lets the next one begin', async () => {
  const folds = new LargeFolds();
  const failing = async (mostPages: number): Promise<null> => {
    if (mostPages > 1) throw new Error('closed');
    return null;
  };
  const all = await Promise.allSettled([1, 2, 3, 4, 5].map(() => folds.take('a', failing)));
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
});

const LAST = 4_999;
const record = { runId: 'run_1' as RunId, tenant: 'a', fork: null };

/** A log with one run of 5,000 rows. Notes how many readers are in the middle of it. */
function longLog() {
  const seen = { inside: 0, most: 0 };
  const { store } = bench();
  const log: Store['log'] = {
    ...store.log,
    head: async () => ({ record, seq: LAST }) as RunHead,
    read: async (range) => {
      await settled();
      const { after, limit } = range as { readonly after: number; readonly limit: number };
      if (after === 999) seen.inside += 1;
      seen.most = Math.max(seen.most, seen.inside);
      const count = Math.max(0, Math.min(limit, LAST - after));
      if (count === 0) seen.inside -= 1;
      return Array.from(
        { length: count },
        (_, i) => ({ seq: after + 1 + i, at: 0, type: 'x.y', payload: '{}' }) as Row,
      );
    },
  };
  return { store: { ...store, log }, seen };
}

test('however many readers ask for the view of a long run, two of them fold it at a time', async () => {
  const { store, seen } = longLog();
  const load = createLoadView(store);
  const views = await Promise.all(Array.from({ length: 20 }, () => load(record.runId)));
  expect(views.every(({ lastSeq }) => lastSeq === LAST)).toBe(true);
  expect(seen.most).toBe(2);
  expect((await load(record.runId, 500)).lastSeq).toBe(500);
});

test('however many readers ask for the snapshot of a long run, two of them fold it at a time', async () => {
  const { node, begin, seen, store } = bench();
  const reads = { beyond: 0, most: 0 };
  const log: Store['log'] = {
    ...store.log,
    read: async (range) => {
      const isBeyond = 'after' in range && range.after >= 0;
      if (isBeyond) reads.beyond += 1;
      reads.most = Math.max(reads.most, reads.beyond);
      await settled();
      if (isBeyond) reads.beyond -= 1;
      return store.log.read(range);
    },
  };
  const engine = node('a');
  await engine.open();
  const runId = await begin(engine, chain(...Array.from({ length: 600 }, () => 'core.noop')));
  await seen(runId, 'run.completed');
  const reader = node('b', [], { ...store, log, checkpoints: { ...store.checkpoints, get: async () => null } });
  const all = await Promise.all(Array.from({ length: 12 }, () => reader.snapshotAt('t', runId)));
  expect(all.every(({ seq, snapshot }) => seq > 1_000 && snapshot.status === 'completed')).toBe(true);
  expect(reads.most).toBe(2);
});
