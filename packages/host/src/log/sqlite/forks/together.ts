/** Several works as one: either all of them take place, or none does. */
import type { Work } from '../commit/job.ts';

export const together = (works: readonly Work<void>[]): Work<void> => ({
  rows: works.reduce((sum, { rows }) => sum + rows, 0),
  bytes: works.reduce((sum, { bytes }) => sum + bytes, 0),
  prepare: () => {
    for (const work of works) work.prepare?.();
  },
  apply: () => {
    for (const work of works) work.apply();
  },
  committed: () => {
    for (const work of works) work.committed?.();
  },
});
