/** A map of bounded size: when it is full, the least recently used entry makes room. Every cache of the host is one. */
export class LruMap<Key, Value extends NonNullable<unknown> | null> {
  readonly #capacity: number;
  /** A Map iterates in insertion order, so the first key is always the least recently used. */
  readonly #entries = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Reads an entry and marks it as the most recently used. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Reads an entry and leaves its place as it is. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Adds or replaces an entry as the most recently used. Gives the value back, so that a miss can end in `return map.set(…)`. */
  set(key: Key, value: Value): Value {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#capacity) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    return value;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Least recently used first. */
  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}
