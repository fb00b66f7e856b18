/** How late the event loop is, as a histogram: a turn that takes long makes everything else late by as much. */
import { hostInstruments } from './instruments.ts';
import type { Family } from './meter.ts';

/** Samples of Node's `perf_hooks`, in nanoseconds. */
export interface DelaySamples {
  readonly count: number;
  readonly mean: number;
  percentile(percentile: number): number;
  reset(): void;
  disable(): void;
}

/** Starts to sample, once in every interval. Node counts the interval as part of the delay. */
export type SampleEventLoop = (intervalMs: number) => DelaySamples;

const INTERVAL_MS = 10;

/** Adds up the samples since the last reading. Sampling starts with the first reading, so without one it costs nothing. */
export class EventLoopDelays {
  readonly #sample: SampleEventLoop;
  #samples: DelaySamples | null = null;
  readonly #bounds = hostInstruments.eventLoopDelay.bounds ?? [];
  readonly #buckets = new Array<number>(this.#bounds.length + 1).fill(0);
  #count = 0;
  #sum = 0;

  constructor(sample: SampleEventLoop) {
    this.#sample = sample;
  }

  read(): Family {
    this.#samples ??= this.#sample(INTERVAL_MS);
    this.#add(this.#samples);
    this.#samples.reset();
    const value = { count: this.#count, sum: this.#sum, buckets: [...this.#buckets] };
    return { instrument: hostInstruments.eventLoopDelay, points: [{ attributes: {}, value }] };
  }

  close(): void {
    this.#samples?.disable();
  }

  #add(samples: DelaySamples): void {
    const { count } = samples;
    if (count === 0) return;
    let below = 0;
    for (const [place, bound] of this.#bounds.entries()) {
      const upTo = countUpTo(samples, (bound * 1000 + INTERVAL_MS) * 1e6);
      this.#buckets[place] = (this.#buckets[place] ?? 0) + upTo - below;
      below = upTo;
    }
    const last = this.#bounds.length;
    this.#buckets[last] = (this.#buckets[last] ?? 0) + count - below;
    this.#count += count;
    this.#sum += Math.max(0, (samples.mean / 1e6 - INTERVAL_MS) * count) / 1000;
  }
}

/** How many samples are at most `value`. Node offers percentiles only, so this searches for the last one that is. */
function countUpTo(samples: DelaySamples, value: number): number {
  let low = 0;
  let high = samples.count;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // Half a rank less than the rank's own percentile, because Node rounds ranks up.
    if (samples.percentile(((middle - 0.5) / samples.count) * 100) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
