/** Finds how many rows a run has up to a cursor: within a run, cursors grow with seq, over the cut of a fork too. */
import type { DatabaseSync } from 'node:sqlite';
import type { CachedHead } from '../append/head-cache.ts';
import { query, required } from '../query.ts';
import { stretchWith } from './stretches.ts';

/** Binary search over an index of the run; no row is loaded. */
export function rowsUntil(db: DatabaseSync): (run: CachedHead | null, cursor: number) => number {
  const cursorAt = query<[cursor: number]>(db, 'SELECT cursor FROM events WHERE run = ? AND seq = ?');
  return (run, cursor) => {
    if (run === null) return 0;
    const { stretches, head } = run;
    let low = 0;
    let high = head.seq + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const owner = stretches[stretchWith(stretches, middle)]?.owner ?? 0;
      const [at] = required(cursorAt.get(owner, middle), 'run-seq-dense');
      if (at <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
