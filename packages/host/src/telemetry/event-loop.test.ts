import { createHistogram } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { EventLoopDelays } from './event-loop.ts';
import type { HistogramValue } from './meter.ts';

/** A real histogram of Node, filled by the test: how late the loop was, in ms. */
function delays(...late: readonly number[][]) {
  const histogram = createHistogram();
  let reading = 0;
  const fill = () => {
    for (const ms of late[reading] ?? []) histogram.record(Math.round((ms + 10) * 1e6));
    reading += 1;
  };
  fill();
  const samples = {
    get count() {
      return histogram.count;
    },
    get mean() {
      return histogram.mean;
    },
    percentile: (p: number) => histogram.percentile(p),
    reset: () => {
      histogram.reset();
      fill();
      return true;
    },
    disable: () => true,
  };
  const watch = new EventLoopDelays(() => samples);
  return () => present(watch.read().points[0]).value as HistogramValue;
}

test('each turn is counted in the bucket of its delay', () => {
  const read = delays([0.2, 0.5, 1.5, 4, 15, 15, 30, 2_000]);
  // Up to 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 ms, and above.
  expect(read().buckets).toEqual([2, 1, 1, 0, 2, 1, 0, 0, 0, 0, 1]);
});

test('readings add up, as a counter does', () => {
  const read = delays([1.5, 30], [], [30, 30, 0.1]);
  read();
  read();
  const { count, sum, buckets } = read();
  expect(count).toBe(5);
  expect(sum).toBeCloseTo(0.0916, 3);
  expect(buckets).toEqual([1, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0]);
});
