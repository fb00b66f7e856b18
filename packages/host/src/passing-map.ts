/**
 * A Map and a Set for entries that come and go with a run or a request. V8 links the table that a Map outgrew to the next
 * one, also after `clear`. If such a table is in the old space, every later table, and every entry that was in one when it
 * was left, survives until the next full collection. With 16 calls at a time, everything that calls held went to the old
 * space in this way. So a new Map, which no old table leads to, takes over every few entries.
 */

/** Entries that leave before the others move on. At least as many as stay, so that moving costs less than what it is for. */
const FEW = 32;

/** With more entries than these, each stays for so long that it gets old anyway. */
const MAX_MOVED = 512;

const isWorn = (left: number, size: number): boolean => left >= FEW && left >= size && size <= MAX_MOVED;

/** Entries must not be removed in a loop over `values`: the loop might go on with those of before. */
export class PassingMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #left = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#left += 1;
    if (isWorn(this.#left, this.#entries.size)) {
      this.#entries = new Map(this.#entries);
      this.#left = 0;
    }
    return true;
  }

  clear(): void {
    if (this.#entries.size === 0) return;
    this.#entries = new Map();
    this.#left = 0;
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}

/** As a PassingMap. */
export class PassingSet<Value> {
  #values = new Set<Value>();
  #left = 0;

  get size(): number {
    return this.#values.size;
  }

  has(value: Value): boolean {
    return this.#values.has(value);
  }

  add(value: Value): void {
    this.#values.add(value);
  }

  delete(value: Value): boolean {
    if (!this.#values.delete(value)) return false;
    this.#left += 1;
    if (isWorn(this.#left, this.#values.size)) {
      this.#values = new Set(this.#values);
      this.#left = 0;
    }
    return true;
  }

  clear(): void {
    if (this.#values.size === 0) return;
    this.#values = new Set();
    this.#left = 0;
  }

  [Symbol.iterator](): IterableIterator<Value> {
    return this.#values[Symbol.iterator]();
  }
}
