/**
 * The run list of the hollow server: the same row and indexes as the host's, written when a run starts and when it
 * ends.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { ListedRun } from './run-shape.ts';

/** Columns that differ between two runs, and between a run in progress and an ended one. */
const OWN = ['key', 'id', 'context'];
const UNDER_WAY: Readonly<Record<string, SQLOutputValue>> = {
  status: 'running',
  ended_at: null,
  owner: 'bench/hollow',
};

export class ListedRuns {
  readonly #insert: StatementSync;
  readonly #end: StatementSync;
  readonly #columns: readonly string[];
  readonly #ended: readonly SQLOutputValue[];

  constructor(db: DatabaseSync, { schema, columns, row }: ListedRun) {
    db.exec(schema.join(';'));
    this.#columns = columns;
    this.#ended = row;
    this.#insert = db.prepare(`INSERT INTO runs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
    const changed = Object.keys(UNDER_WAY).map((column) => `${column} = ?`);
    this.#end = db.prepare(`UPDATE runs SET ${changed.join(', ')} WHERE key = ?`);
  }

  begin(run: number): void {
    const own = `${run}`.padStart(36, '0');
    const values = this.#columns.map((column, i) => {
      if (OWN.includes(column)) return column === 'key' ? run : own;
      return column in UNDER_WAY ? (UNDER_WAY[column] ?? null) : (this.#ended[i] ?? null);
    });
    this.#insert.run(...values);
  }

  end(run: number): void {
    this.#end.run(...Object.keys(UNDER_WAY).map((column) => this.#ended[this.#columns.indexOf(column)] ?? null), run);
  }
}
