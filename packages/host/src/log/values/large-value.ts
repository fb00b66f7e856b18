/**
 * Large values that were read lately, for all readers of the log: a run whose forty events repeat a value, and twenty forks
 * of it, have the value in memory once. Without this, each row that was folded left copies of several hundred kilobytes, and
 * to collect them stopped everybody for 50 ms.
 */
import { heldSize, type Json } from '@cairn/protocol';
import { SharedLruMap } from '../../shared-lru-map.ts';
import { utf8Size } from '../../utf8.ts';

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

/** Values by what a store knows them by. */
export class RecentValues<Key> {
  readonly #recent = new SharedLruMap<Key, LargeValue>({ capacity: CAPACITY, weigh: ({ held }) => held });

  /** Reads the text if the value is not here. */
  find(key: Key, read: () => string): LargeValue {
    return this.#recent.get(key) ?? this.#add(key, read());
  }

  clear(): void {
    this.#recent.clear();
  }

  #add(key: Key, text: string): LargeValue {
    const weighAgain = (value: LargeValue): void => {
      if (this.#recent.get(key) === value) this.#keep(key, value);
    };
    return this.#keep(key, new LargeValue(text, weighAgain));
  }

  #keep(key: Key, value: LargeValue): LargeValue {
    return this.#recent.set(key, value, 'all');
  }
}
