/** A map of bounded size: when it is full, the least recently used entry makes room. Every cache of the host is one. */
import { PassingMap } from './passing-map.ts';

export class LruMap<Key, Value extends NonNullable<unknown> | null> {
  readonly #capacity: number;
  readonly #entries = new PassingMap<Key, Entry<Key, Value>>();
  /**
   * The ends of a list in the order of use. A Map has an order too, but its first key lies behind the places of all that
   * were removed: with 10,000 entries, finding it took 8 microseconds.
   */
  #oldest: Entry<Key, Value> | null = null;
  #newest: Entry<Key, Value> | null = null;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Reads an entry and marks it as the most recently used. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#use(entry);
    return entry.value;
  }

  /** Reads an entry and leaves its place as it is. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Adds or replaces an entry as the most recently used. Gives the value back, so that a miss can end in `return map.set(…)`. */
  set(key: Key, value: Value): Value {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.value = value;
      this.#use(known);
      return value;
    }
    const entry: Entry<Key, Value> = { key, value, older: null, newer: null };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.#entries.size > this.#capacity && this.#oldest !== null) this.delete(this.#oldest.key);
    return value;
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = null;
    this.#newest = null;
  }

  /** Least recently used first. */
  *[Symbol.iterator](): Generator<[Key, Value], undefined> {
    for (let entry = this.#oldest; entry !== null; entry = entry.newer) yield [entry.key, entry.value];
  }

  #use(entry: Entry<Key, Value>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    entry.newer = null;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry<Key, Value>): void {
    const { older, newer } = entry;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    entry.older = null;
    entry.newer = null;
  }
}

interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  /** Its neighbours in the order of use. */
  older: Entry<Key, Value> | null;
  newer: Entry<Key, Value> | null;
}
