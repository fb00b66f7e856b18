/** Checkpoints of a run's index, so that a fork of a long run folds a short tail. A checkpoint is never the truth. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { IndexedRun } from '../../fold-run-index.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import { defineMarks } from '../marks.ts';
import { type Query, query } from '../query.ts';
import type { Stretches } from './stretches.ts';

/** Bump when the index of a run changes shape: older checkpoints are then ignored. */
const INDEX_FORMAT = 'run-index/1';

/** Rows between two checkpoints, and open interrupts that cost as much to write as so many rows. */
const EVERY_ROWS = 250;

interface Body {
  readonly format: string;
  readonly record: RunRecord;
  readonly open: readonly InterruptRecord[];
}

export interface IndexAt {
  readonly seq: number;
  readonly index: IndexedRun;
}

/** Whether the rows up to the present head make a checkpoint due. A few bytes for each row, and nothing to thin out. */
export function isIndexDue(
  previousSeq: number,
  { seq, open }: { readonly seq: number; readonly open: IndexedRun['open'] },
) {
  const every = EVERY_ROWS * (1 + Math.floor(open.size / EVERY_ROWS));
  return Math.floor((seq + 1) / every) > Math.floor((previousSeq + 1) / every);
}

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

  put(run: number, seq: number, { record, open }: IndexedRun): void {
    const body: Body = { format: INDEX_FORMAT, record, open: [...open.values()] };
    this.#put.run(run, seq, JSON.stringify(body));
  }

  drop(run: number): void {
    this.#drop.run(run);
  }

  /** The newest checkpoint of these rows, whichever run owns them; null when there is none. */
  newest(stretches: Stretches): IndexAt | null {
    for (const { owner, through } of stretches.toReversed()) {
      const found = this.#newest.get(owner, through);
      if (found === undefined) continue;
      const body: Body = JSON.parse(found[1]);
      if (body.format !== INDEX_FORMAT) continue;
      const open = new Map(body.open.map((interrupt) => [interrupt.interruptId, interrupt]));
      return { seq: found[0], index: { record: body.record, open } };
    }
    return null;
  }
}
