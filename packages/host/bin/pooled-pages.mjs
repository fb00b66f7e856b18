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
/** Until a collection that was asked for is over, load is looked for more often. */
const LOOK_AGAIN_MS = 50;
/** A collection that began before it was told to reduce memory keeps the pool: then the next one is told. */
const AGAIN_MS = 5_000;
/** The part of the time since the last look in which a calm host did something. */
const CALM = 0.25;
/** The part in which a host is busy. The collection itself takes some of the time. */
const BUSY = 0.5;
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

/** Chooses the moment: what V8 is told after each look, and after each large collection. */
export class PoolChoice {
  #pool = new PoolEstimate();
  /** @type {'begin' | 'reduce' | null} */
  #told = null;
  #notBefore = 0;

  /** Whether a collection was told to empty the pool. */
  get isTold() {
    return this.#told !== null;
  }

  /** What V8 is told now: to begin a collection that empties the pool, to empty it in the next one, or to do as usual. */
  look({ memory, utilization, now }) {
    const isShort = memory.rss >= SHORT_AT;
    if (this.#told !== null) {
      // What was asked for in a calm moment must not make the pauses of a load longer.
      return this.#told === 'begin' && utilization >= BUSY && !isShort ? this.#over(now) : null;
    }
    const isCalm = utilization < CALM;
    if (now < this.#notBefore || (!isCalm && !isShort) || !this.#pool.isLarge(besideHeap(memory))) return null;
    this.#told = isCalm ? 'begin' : 'reduce';
    return this.#told;
  }

  /** A large collection is over. */
  collected({ memory, now }) {
    this.#pool.collected(besideHeap(memory));
    return this.#over(now);
  }

  #over(now) {
    this.#told = null;
    this.#notBefore = now + AGAIN_MS;
    return 'usual';
  }
}

const flags = { begin: [...reduce, ...begin], reduce, usual: asUsual };

/** Looks twice a second, and has V8 empty its pool when that is worth it. Returns how to stop. */
export function releasePooledPages({ memoryUsage = process.memoryUsage, lookMs = LOOK_MS } = {}) {
  const choice = new PoolChoice();
  let lastLoad = performance.eventLoopUtilization();
  const collections = new PerformanceObserver((list) => note(list.getEntries()));
  const tell = (what) => {
    if (what === null) return;
    if (what === 'usual') collections.disconnect();
    else collections.observe({ entryTypes: ['gc'] });
    for (const flag of flags[what]) setFlagsFromString(flag);
  };
  const note = (entries) => {
    if (!choice.isTold || !entries.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return;
    tell(choice.collected({ memory: memoryUsage(), now: performance.now() }));
  };
  const look = () => {
    note(collections.takeRecords());
    const load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, lastLoad);
    lastLoad = load;
    tell(choice.look({ memory: memoryUsage(), utilization, now: performance.now() }));
    timer = setTimeout(look, choice.isTold ? Math.min(lookMs, LOOK_AGAIN_MS) : lookMs).unref();
  };
  let timer = setTimeout(look, lookMs).unref();
  return () => {
    clearTimeout(timer);
    if (choice.isTold) tell('usual');
  };
}

const besideHeap = ({ rss, heapTotal, external }) => rss - heapTotal - external;
