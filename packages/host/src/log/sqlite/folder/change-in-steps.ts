/** Changes rows for a migration, in transactions of bounded size. The process may end between two of them. */
import type { DatabaseSync } from 'node:sqlite';
import { query } from '../query.ts';
import type { RowProgress } from './migration.ts';

/** Steps between two notices. */
const STEPS_PER_NOTICE = 20;

export interface Steps<Place> {
  /** The name under which the place is saved until the migration is done. */
  readonly reader: string;
  /** The table whose rows progress counts. */
  readonly table: 'events' | 'runs';
  readonly first: Place;
  readonly onProgress: (progress: RowProgress) => void;
  /** Changes what follows a place, within a transaction. */
  step(place: Place): { readonly place: Place; readonly rows: number; readonly isLast: boolean };
}

/** Continues after the last committed step. */
export function changeInSteps<Place>(db: DatabaseSync, { reader, table, first, step, onProgress }: Steps<Place>): void {
  const save = db.prepare('INSERT OR REPLACE INTO marks (reader, position) VALUES (?, ?)');
  const [saved] = query<[position: string]>(db, 'SELECT position FROM marks WHERE reader = ?').get(reader) ?? [];
  const ofRows = Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  let place: Place = saved === undefined ? first : JSON.parse(saved);
  let rows = 0;
  for (let steps = 1; ; steps += 1) {
    db.exec('BEGIN IMMEDIATE');
    try {
      const done = step(place);
      place = done.place;
      rows += done.rows;
      save.run(reader, JSON.stringify(place));
      db.exec('COMMIT');
      if (done.isLast) return;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
    if (steps % STEPS_PER_NOTICE > 0) continue;
    // Nothing else checkpoints while the folder is opened. Without this, the log would grow as large as the database.
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    onProgress({ rows, ofRows });
  }
}
