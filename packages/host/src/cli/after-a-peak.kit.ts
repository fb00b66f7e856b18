/** A process after a peak: says how much memory it holds beside its heap. With an argument, it gives pooled pages back. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { releasePooledPages } from '../../bin/pooled-pages.mjs';

if (process.argv.length > 2) {
  // As if much lay beside the heap, so that a small peak shows it.
  releasePooledPages({ memoryUsage: () => ({ rss: Number.MAX_SAFE_INTEGER, heapTotal: 0, external: 0 }), lookMs: 10 });
}

const COLLECTIONS = 6;
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

hold(500_000);
const work = () => {
  hold(40_000);
  if (collections < COLLECTIONS) return void setTimeout(work, 1);
  const { rss, heapTotal, external } = process.memoryUsage();
  process.send?.({ held: held.length, besideHeap: rss - heapTotal - external });
  process.disconnect();
};
work();
