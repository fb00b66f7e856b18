/**
 * The rows of a run and the state after any of them. A copy of the state is kept for every 1,000 rows: a jump folds at most 999
 * rows again, and a step forwards folds one.
 */
import { CauseIndex } from './cause-index.ts';
import { RunFold } from './run-fold.ts';
import { positionOf, type RunRow } from './run-row.ts';

export const CHECKPOINT_ROWS = 1_000;

export class FoldHistory {
  readonly rows: RunRow[] = [];
  readonly causes = new CauseIndex();
  readonly #head = new RunFold();
  /** The state before the row at `index * CHECKPOINT_ROWS`. */
  readonly #checkpoints: RunFold[] = [];
  /** The state that was asked for last, and how many rows it has. */
  #past: { readonly fold: RunFold; rows: number } | null = null;

  /** The state after the last row. */
  get head(): RunFold {
    return this.#head;
  }

  get lastSeq(): number {
    return this.#head.seq;
  }

  /** Takes the next row. Rows that are known already, as after a reconnect, are left out. */
  take(row: RunRow): void {
    if (row.seq <= this.#head.seq) return;
    if (this.rows.length % CHECKPOINT_ROWS === 0) this.#checkpoints.push(this.#head.fork());
    this.rows.push(row);
    this.causes.take(row);
    this.#head.take(row);
  }

  /** The state after the row with this sequence, or after the last one before it. Do not change it. */
  at(seq: number): RunFold {
    const rows = positionOf(this.rows, seq) + 1;
    if (rows === this.rows.length) return this.#head;
    const start = Math.floor(rows / CHECKPOINT_ROWS);
    if (this.#past === null || this.#past.rows > rows || this.#past.rows < start * CHECKPOINT_ROWS) {
      this.#past = { fold: (this.#checkpoints[start] ?? new RunFold()).fork(), rows: start * CHECKPOINT_ROWS };
    }
    if (this.#past.rows < rows) {
      // A new object for each state, so that code that compares objects sees the change.
      const fold = this.#past.fold.fork();
      for (let at = this.#past.rows; at < rows; at += 1) {
        const row = this.rows[at];
        if (row !== undefined) fold.take(row);
      }
      this.#past = { fold, rows };
    }
    return this.#past.fold;
  }
}
