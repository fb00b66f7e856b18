/** Reduces benchmark samples to single numbers, so that every figure means the same by "median". */
import { present } from '../packages/host/test/kit/present.ts';

/** The nearest-rank percentile: the value below which the share `p` (0 to 1) of the samples lies. */
export function percentile(samples: readonly number[], p: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = Float64Array.from(samples).sort();
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(p * sorted.length)));
  return present(sorted[rank - 1]);
}

/** The middle sample, or the mean of the two middle samples for an even count. */
export function median(samples: readonly number[]): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = Float64Array.from(samples).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? present(sorted[middle])
    : (present(sorted[middle - 1]) + present(sorted[middle])) / 2;
}
