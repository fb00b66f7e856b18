/**
 * The limit for the store: the same rows into the same table through bare `node:sqlite`, with no checks or computation.
 */
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { present } from '../packages/host/test/kit/present.ts';
import type { RowShape } from './run-shape.ts';

/** WAL pages between checkpoints: enough that checkpoints are rare, as measured for the raw limit. */
const CHECKPOINT_PAGES = 16_000;

export class RawRows implements Disposable {
  readonly db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #values: SQLOutputValue[][];
  readonly #cursorAt: number;
  readonly #runAt: number;
  readonly #seqAt: number;
  #cursor = 0;
  #commits = 0;

  constructor(file: string, shape: RowShape) {
    this.db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    this.db.exec(
      `PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=${CHECKPOINT_PAGES};
       ${shape.schema.join(';')}`,
    );
    const names = shape.columns.join(', ');
    this.#insert = this.db.prepare(`INSERT INTO events (${names}) VALUES (${shape.columns.map(() => '?').join(', ')})`);
    this.#values = shape.rows.map((row) => [...row]);
    this.#cursorAt = shape.columns.indexOf('cursor');
    this.#runAt = shape.columns.indexOf('run');
    this.#seqAt = shape.columns.indexOf('seq');
  }

  get commits(): number {
    return this.#commits;
  }

  begin(): void {
    this.db.exec('BEGIN IMMEDIATE');
  }

  /** Writes the row at `index` of the shape (wrapping around) as this run's `seq`. */
  put(index: number, run: number, seq: number): void {
    const row = present(this.#values[index % this.#values.length]);
    row[this.#cursorAt] = ++this.#cursor;
    row[this.#runAt] = run;
    row[this.#seqAt] = seq;
    this.#insert.run(...row);
  }

  commit(): void {
    this.db.exec('COMMIT');
    this.#commits += 1;
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}
