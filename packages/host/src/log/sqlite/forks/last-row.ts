/** Finds the last row of a run, which a fork without own rows shares. */
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../query.ts';
import { PurgedRows } from './purged-rows.ts';
import type { LastRow, Stretches } from './stretches.ts';

/** Null for a fork that shares nothing and has no row yet. The rows that a fork shares may have been purged. */
export function lastRowReader(db: DatabaseSync): (stretches: Stretches) => LastRow | null {
  const last = query<[seq: number, cursor: number, hash: string, at: number]>(
    db,
    'SELECT seq, cursor, hash, at FROM events WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
  );
  const purged = new PurgedRows(db);
  return (stretches) => {
    for (let i = stretches.length - 1; i >= 0; i -= 1) {
      const stretch = stretches[i];
      if (stretch === undefined) continue;
      const found = last.get(stretch.owner, stretch.through);
      if (found === undefined) {
        const left = purged.last(stretch.owner, stretch.through);
        if (left !== null) return left;
        continue;
      }
      const [seq, cursor, hash, at] = found;
      return { seq, cursor, hash, at };
    }
    return null;
  };
}
