/**
 * A process after a peak: says how little memory it held beside its heap, over many collections. With a number, it gives
 * pooled pages back and ends once it holds less than that: on a busy machine the collection that does it comes late.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { releasePooledPages } from '../../bin/pooled-pages.mjs';

const [, , wanted] = process.argv;
if (wanted !== undefined) {
  // As if much lay beside the heap, so that a small peak shows it.
  releasePooledPages({ memoryUsage: () => ({ rss: Number.MAX_SAFE_INTEGER, heapTotal: 0, external: 0 }), lookMs: 10 });
}

const COLLECTIONS = 6;
const MANY_COLLECTIONS = 30;
let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().filter((entry) => 'detail' in entry && isLarge(entry.detail)).length;
}).observe({ entryTypes: ['gc'] });

const isLarge = (detail: unknown): boolean =>
  typeof detail === 'object' &&
  detail !== null &&
  'kind' in detail &&
  detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

/** Referenced until the next call, so that V8 collects the large space too. */
let held: readonly object[] = [];
const hold = (count: number) => {
  held = Array.from({ length: count }, (_, i) => ({ i, list: [i, i, i, i], text: `${i}`, inner: { a: i, b: i } }));
};

const besideHeap = (): number => {
  const { rss, heapTotal, external } = process.memoryUsage();
  return rss - heapTotal - external;
};

hold(500_000);
let least = Number.POSITIVE_INFINITY;
const work = () => {
  hold(40_000);
  if (collections >= COLLECTIONS) least = Math.min(least, besideHeap());
  const isLow = wanted !== undefined && least < Number(wanted);
  if (!isLow && collections < MANY_COLLECTIONS) return void setTimeout(work, 1);
  process.send?.({ held: held.length, besideHeap: least });
  process.disconnect();
};
work();
