/**
 * Large values that were read lately, for all readers of the log: a run whose forty events repeat a value, and twenty forks
 * of it, have the value in memory once. Without this, each row that was folded left copies of several hundred kilobytes, and
 * to collect them stopped everybody for 50 ms.
 */
import type { DatabaseSync } from 'node:sqlite';
import { heldSize, type Json } from '@cairn/protocol';
import { SharedLruMap } from '../../../shared-lru-map.ts';
import { utf8Size } from '../../../utf8.ts';
import { type Query, query, required } from '../query.ts';

/** About the bytes of memory that the values take. */
const CAPACITY = 16_777_216;

/** An empty object counts 17 bytes in `heldSize`, and takes 64 of memory. */
const HELD_PARTS = 4;

export class LargeValue {
  /** JSON text. */
  readonly text: string;
  readonly #parsed: (value: LargeValue) => void;
  #bytes: number | null = null;
  #value: Json = null;

  constructor(text: string, parsed: (value: LargeValue) => void = () => {}) {
    this.text = text;
    this.#parsed = parsed;
  }

  /** The size of the text in UTF-8. */
  get bytes(): number {
    this.#bytes ??= utf8Size(this.text);
    return this.#bytes;
  }

  /** About what it takes of memory: one or two bytes for a character. A string shares the memory of its text. */
  get held(): number {
    const ofText = this.bytes === this.text.length ? this.bytes : 2 * this.text.length;
    return typeof this.#value === 'string' ? ofText : ofText + HELD_PARTS * heldSize(this.#value);
  }

  /** The same for all events that hold it, so nobody may change it. */
  get value(): Json {
    if (this.#value !== null) return this.#value;
    this.#value = parse(this.text);
    this.#parsed(this);
    return this.#value;
  }
}

/** A text without escapes is a part of its JSON, and not a copy. */
function parse(text: string): Json {
  if (text.startsWith('"') && !text.includes('\\')) return text.slice(1, -1);
  const value: Json = JSON.parse(text);
  return value;
}

/** Finds a large value by its key. */
export type FindValue = (key: number) => LargeValue;

/** Reads each value when it is wanted, for a reader that sees each row once. */
export function storedValues(db: DatabaseSync): FindValue {
  const read = bodyReader(db);
  return (key) => new LargeValue(read(key));
}

export class SharedValues {
  readonly #read: (key: number) => string;
  readonly #recent = new SharedLruMap<number, LargeValue>({ capacity: CAPACITY, weigh: ({ held }) => held });

  constructor(db: DatabaseSync) {
    this.#read = bodyReader(db);
  }

  readonly find: FindValue = (key) => this.#recent.get(key) ?? this.#add(key);

  /** To be called when values are deleted: their keys are given to others. */
  clear(): void {
    this.#recent.clear();
  }

  #add(key: number): LargeValue {
    const weighAgain = (value: LargeValue): void => {
      if (this.#recent.get(key) === value) this.#keep(key, value);
    };
    return this.#keep(key, new LargeValue(this.#read(key), weighAgain));
  }

  #keep(key: number, value: LargeValue): LargeValue {
    return this.#recent.set(key, value, 'all');
  }
}

function bodyReader(db: DatabaseSync): (key: number) => string {
  const body: Query<[body: string]> = query(db, 'SELECT body FROM large_values WHERE key = ?');
  return (key) => required(body.get(key), 'large-value-exists')[0];
}
