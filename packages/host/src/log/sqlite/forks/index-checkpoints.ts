/** Checkpoints of the indexes of runs in SQLite. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { IndexedRun } from '../../fold-run-index.ts';
import { type IndexAt, indexBody, indexOf } from '../../index-checkpoint.ts';
import { defineMarks } from '../marks.ts';
import { type Query, query } from '../query.ts';
import type { Stretches } from './stretches.ts';

export class IndexCheckpoints {
  readonly #put: StatementSync;
  readonly #drop: StatementSync;
  readonly #newest: Query<[seq: number, body: string]>;

  constructor(db: DatabaseSync) {
    defineMarks(db);
    this.#put = db.prepare(
      'INSERT OR REPLACE INTO index_checkpoints (run, seq, body, mark) VALUES (?1, ?2, ?3, mark_of(?1, ?2, ?3))',
    );
    this.#drop = db.prepare('DELETE FROM index_checkpoints WHERE run = ?');
    this.#newest = query(
      db,
      'SELECT seq, body FROM index_checkpoints WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
    );
  }

  put(run: number, seq: number, index: IndexedRun): void {
    this.#put.run(run, seq, indexBody(index));
  }

  drop(run: number): void {
    this.#drop.run(run);
  }

  /** The newest checkpoint of these rows, whichever run owns them; null when there is none. */
  newest(stretches: Stretches): IndexAt | null {
    for (const { owner, through } of stretches.toReversed()) {
      const found = this.#newest.get(owner, through);
      if (found === undefined) continue;
      const index = indexOf(found[1]);
      if (index !== null) return { seq: found[0], index };
    }
    return null;
  }
}
