/**
 * Keeps each large value of a run once, however many of its events hold it. The rows refer to it from a column of their
 * own, so that no data can pretend to be a reference. Readers get the whole text, which is also what the hashes cover.
 */
import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LARGE_VALUE_CHARS, largeValues } from '../../values/cut-values.ts';
import { type Query, query } from '../query.ts';

/** The texts of a row as the table keeps them. */
export interface KeptTexts {
  readonly payload: string;
  readonly task: string | null;
  /** The values that are missing in the two texts; null if none is. */
  readonly cuts: string | null;
}

/** For each value that is missing in a text: its place in the kept text, and its key. */
export type Cuts = readonly number[];

/** Writes values. A value belongs to one run. */
export class ValueWriter {
  readonly #find: Query<[key: number]>;
  readonly #add: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = query(db, 'SELECT key FROM large_values WHERE run = ? AND hash = ?');
    this.#add = db.prepare('INSERT INTO large_values (run, hash, body) VALUES (?, ?, ?)');
  }

  /** Returns the texts without their large values, which it stores if the run has not stored them before. */
  keep(run: number, payload: string, task: string | null): KeptTexts {
    const kept = this.#keep(run, payload);
    const keptTask = task === null || task.length < LARGE_VALUE_CHARS ? null : this.#keep(run, task);
    const missing = [kept.cuts, keptTask?.cuts ?? []];
    if (missing.every((cuts) => cuts.length === 0)) return { payload, task, cuts: null };
    return { payload: kept.text, task: keptTask?.text ?? task, cuts: JSON.stringify(missing) };
  }

  #keep(run: number, text: string): { readonly text: string; readonly cuts: Cuts } {
    const places = largeValues(text);
    const cuts: number[] = [];
    let kept = '';
    let from = 0;
    for (let i = 0; i < places.length; i += 2) {
      const start = places[i] ?? 0;
      const end = places[i + 1] ?? start;
      kept += text.slice(from, start);
      cuts.push(kept.length, this.#key(run, text.slice(start, end)));
      from = end;
    }
    return { text: from === 0 ? text : kept + text.slice(from), cuts };
  }

  #key(run: number, body: string): number {
    const digest = hash('sha256', body, 'buffer');
    const found = this.#find.get(run, digest);
    return found === undefined ? Number(this.#add.run(run, digest, body).lastInsertRowid) : found[0];
  }
}
