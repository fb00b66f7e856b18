/** Finds the large values of a folder by their keys: those that were read lately are in memory. */
import type { DatabaseSync } from 'node:sqlite';
import { LargeValue, RecentValues } from '../../values/large-value.ts';
import { type Query, query, required } from '../query.ts';

/** Finds a large value by its key. */
export type FindValue = (key: number) => LargeValue;

/** Reads each value when it is wanted, for a reader that sees each row once. */
export function storedValues(db: DatabaseSync): FindValue {
  const read = bodyReader(db);
  return (key) => new LargeValue(read(key));
}

export class SharedValues {
  readonly #read: (key: number) => string;
  readonly #recent = new RecentValues<number>();

  constructor(db: DatabaseSync) {
    this.#read = bodyReader(db);
  }

  readonly find: FindValue = (key) => this.#recent.find(key, () => this.#read(key));

  /** To be called when values are deleted: their keys are given to others. */
  clear(): void {
    this.#recent.clear();
  }
}

function bodyReader(db: DatabaseSync): (key: number) => string {
  const body: Query<[body: string]> = query(db, 'SELECT body FROM large_values WHERE key = ?');
  return (key) => required(body.get(key), 'large-value-exists')[0];
}
