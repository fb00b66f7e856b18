/**
 * Gives memory back that V8 keeps after a peak. V8 puts the pages that a garbage collection frees into a pool without a
 * bound, and empties the pool only in a collection that reduces memory. It makes one by itself when a process allocates
 * almost nothing for some seconds, so half a gigabyte stays with a host that always has a little to do.
 *
 * To empty the pool takes the main thread 0.2 ms for a MiB, all in the pause of the collection, and the next collections
 * are slower without it: under attack they paused the host for 60 to 100 ms. So that is done in a calm moment, in a
 * collection that is asked for; under load only when memory is short.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const LOOK_MS = 500;
/** A collection that began before it was told to reduce memory keeps the pool: then the next one is told. */
const AGAIN_MS = 5_000;
/** The part of the time since the last look in which a calm host did something. */
const CALM = 0.25;
/** Resident memory above which the pool is emptied under load. */
const SHORT_AT = 896 * 1_048_576;
/** Code, stacks, buffers of sockets and SQLite's pages beside the heap. Under attack they take up to 320 MiB. */
const USUAL_BESIDE_HEAP = 256 * 1_048_576;
/** Less is not worth a pause. */
const LEAST_POOLED = 64 * 1_048_576;

/** The next large collection empties the pool. It moves no objects: that would make its pause a third longer. */
const reduce = ['--optimize-for-size', '--no-compact'];
/** A large collection begins soon, as if the heap had grown: in steps beside other work. */
const begin = ['--incremental-marking-soft-trigger=1'];
const asUsual = ['--no-optimize-for-size', '--compact', '--incremental-marking-soft-trigger=0'];

/** How much of what lies beside the heap is V8's pool: nothing tells, so it is what came to the least that was seen. */
export class PoolEstimate {
  #used = USUAL_BESIDE_HEAP;

  /** Whether the pool is worth emptying, with so many bytes beside the heap. */
  isLarge(beside) {
    this.#used = Math.max(USUAL_BESIDE_HEAP, Math.min(this.#used, beside));
    return beside >= this.#used + LEAST_POOLED;
  }

  /** So much is left after a collection. If that kept the pool, the next one has to try; if it is no pool, few do. */
  collected(beside) {
    this.#used += Math.max(0, beside - this.#used) / 2;
  }
}

/** Looks twice a second, and has V8 empty its pool when that is worth it. Returns how to stop. */
export function releasePooledPages({ memoryUsage = process.memoryUsage, lookMs = LOOK_MS } = {}) {
  const pool = new PoolEstimate();
  let isTold = false;
  let notBefore = 0;
  let lastLoad = performance.eventLoopUtilization();
  const collections = new PerformanceObserver((list) => {
    if (list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) collected();
  });
  const collected = () => {
    collections.disconnect();
    for (const flag of asUsual) setFlagsFromString(flag);
    isTold = false;
    notBefore = performance.now() + AGAIN_MS;
    pool.collected(besideHeap(memoryUsage()));
  };
  const isCalm = () => {
    const load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, lastLoad);
    lastLoad = load;
    return utilization < CALM;
  };
  const look = () => {
    const memory = memoryUsage();
    const [calm, isLarge] = [isCalm(), pool.isLarge(besideHeap(memory))];
    if (isTold || performance.now() < notBefore || !isLarge || (!calm && memory.rss < SHORT_AT)) return;
    isTold = true;
    collections.observe({ entryTypes: ['gc'] });
    for (const flag of calm ? [...reduce, ...begin] : reduce) setFlagsFromString(flag);
  };
  const timer = setInterval(look, lookMs).unref();
  return () => {
    clearInterval(timer);
    if (isTold) collected();
  };
}

const besideHeap = ({ rss, heapTotal, external }) => rss - heapTotal - external;
