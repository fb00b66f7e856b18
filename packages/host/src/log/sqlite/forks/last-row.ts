/** Finds the last row of a run, which a fork without own rows shares. */
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../query.ts';
import type { Stretches } from './stretches.ts';

export interface LastRow {
  readonly seq: number;
  readonly cursor: number;
  readonly hash: string;
  readonly at: number;
}

/** Null for a fork that shares nothing and has no row yet. */
export function lastRowReader(db: DatabaseSync): (stretches: Stretches) => LastRow | null {
  const last = query<[seq: number, cursor: number, hash: string, at: number]>(
    db,
    'SELECT seq, cursor, hash, at FROM events WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
  );
  return (stretches) => {
    for (let i = stretches.length - 1; i >= 0; i -= 1) {
      const stretch = stretches[i];
      const found = stretch === undefined ? undefined : last.get(stretch.owner, stretch.through);
      if (found === undefined) continue;
      const [seq, cursor, hash, at] = found;
      return { seq, cursor, hash, at };
    }
    return null;
  };
}
