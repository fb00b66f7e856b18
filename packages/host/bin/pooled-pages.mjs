/**
 * Gives memory back that V8 keeps after a peak. V8 puts the pages that a garbage collection frees into a pool without a
 * bound, and empties the pool only in a collection that reduces memory. It makes one by itself when a process allocates
 * almost nothing for some seconds, so half a gigabyte stays with a host that always has a little to do.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const LOOK_MS = 1_000;
/** A collection that began before it was told to reduce memory keeps the pool: then the next one is told. */
const AGAIN_MS = 5_000;
/** Code, stacks, buffers of sockets and SQLite's pages take up to 300 MiB beside the heap under attack. */
const MOST_BESIDE_HEAP = 448 * 1_048_576;

/** The next large collection empties the pool. It moves no objects: that would make its pause a third longer. */
const reduce = ['--optimize-for-size', '--no-compact'];
const asUsual = ['--no-optimize-for-size', '--compact'];

/** Looks once a second, and has V8 empty its pool when much memory lies beside its heap. Returns how to stop. */
export function releasePooledPages({ memoryUsage = process.memoryUsage, lookMs = LOOK_MS } = {}) {
  let isTold = false;
  let notBefore = 0;
  const collections = new PerformanceObserver((list) => {
    if (list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) collected();
  });
  const collected = () => {
    collections.disconnect();
    for (const flag of asUsual) setFlagsFromString(flag);
    isTold = false;
    notBefore = performance.now() + AGAIN_MS;
  };
  const look = () => {
    if (isTold || performance.now() < notBefore) return;
    const { rss, heapTotal, external } = memoryUsage();
    if (rss - heapTotal - external < MOST_BESIDE_HEAP) return;
    isTold = true;
    collections.observe({ entryTypes: ['gc'] });
    for (const flag of reduce) setFlagsFromString(flag);
  };
  const timer = setInterval(look, lookMs).unref();
  return () => {
    clearInterval(timer);
    if (isTold) collected();
  };
}
