/** What is left of rows that a fork shares with a purged run. Purging begins with the first row of a run. */
import type { DatabaseSync } from 'node:sqlite';
import type { EventColumns } from '../columns.ts';
import { type Query, query } from '../query.ts';
import type { LastRow, Stretches } from './stretches.ts';

/** A folder that no host has opened since there is retention has no such rows. */
export class PurgedRows {
  readonly #first: Query<[cursor: number]> | null = null;
  readonly #at: Query<[cursor: number]> | null = null;
  readonly #last: Query<[seq: number, cursor: number, hash: string, at: number]> | null = null;
  readonly #rows: Query<EventColumns> | null = null;

  constructor(db: DatabaseSync) {
    const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tombstones'").get() !== undefined;
    if (!hasTable) return;
    const some = 'FROM tombstones WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq';
    this.#first = query(db, `SELECT cursor ${some} LIMIT 1`);
    this.#at = query(db, 'SELECT cursor FROM tombstones WHERE run = ? AND seq = ?');
    this.#last = query(
      db,
      'SELECT seq, cursor, hash, at FROM tombstones WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
    );
    this.#rows = query(
      db,
      `SELECT seq, cursor, at, type, node, cause, audience, '', NULL, row_hash, hash, NULL, 0 ${some}`,
    );
  }

  /** The cursor of the first purged row from one seq up to another; null when none of them was purged. */
  firstCursor(owner: number, from: number, before: number): number | null {
    return this.#first?.get(owner, from, before)?.[0] ?? null;
  }

  /** Whether any row of these was purged. */
  isAmong(stretches: Stretches): boolean {
    return stretches.some(({ owner, from, through }) => this.firstCursor(owner, from, through) !== null);
  }

  cursorAt(owner: number, seq: number): number | null {
    return this.#at?.get(owner, seq)?.[0] ?? null;
  }

  last(owner: number, before: number): LastRow | null {
    const found = this.#last?.get(owner, before);
    if (found === undefined) return null;
    const [seq, cursor, hash, at] = found;
    return { seq, cursor, hash, at };
  }

  /** Tombstones: rows without bodies. */
  rows(owner: number, from: number, before: number): Iterable<EventColumns> {
    return this.#rows?.iterate(owner, from, before) ?? [];
  }
}
