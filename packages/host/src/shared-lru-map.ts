/**
 * A cache of bounded weight that several owners share. When it is full, the owner who uses most of it loses the entry
 * that it used least recently. So an owner who fills the cache evicts its own entries, not those of others.
 */
export interface SharedCacheOptions<Value> {
  /** The maximum weight of all entries together. */
  readonly capacity: number;
  /** The weight of an entry, such as its size in bytes. */
  readonly weigh: (value: Value) => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** Iterates in the order of use: the first entry is the least recently used one. */
type Share<Key, Value> = { readonly entries: Map<Key, Entry<Value>>; weight: number };

export class SharedLruMap<Key, Value> {
  readonly #options: SharedCacheOptions<Value>;
  readonly #shares = new Map<string, Share<Key, Value>>();
  readonly #owners = new Map<Key, string>();
  #weight = 0;

  constructor(options: SharedCacheOptions<Value>) {
    this.#options = options;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Reads an entry of any owner, and marks it as the most recently used of its owner. */
  get(key: Key): Value | undefined {
    const entries = this.#shareOf(key)?.entries;
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry.value;
  }

  /** Adds or replaces an entry. Its weight is taken now. The new entry itself stays, even if it is larger than the cache. */
  set(key: Key, value: Value, owner: string): Value {
    this.delete(key);
    const weight = this.#options.weigh(value);
    const share = this.#shares.get(owner) ?? { entries: new Map(), weight: 0 };
    this.#shares.set(owner, share);
    share.entries.set(key, { value, weight });
    share.weight += weight;
    this.#owners.set(key, owner);
    this.#weight += weight;
    while (this.#weight > this.#options.capacity && this.#owners.size > 1) this.#evict(key);
    return value;
  }

  delete(key: Key): boolean {
    const owner = this.#owners.get(key);
    const share = this.#shareOf(key);
    const entry = share?.entries.get(key);
    if (owner === undefined || share === undefined || entry === undefined) return false;
    share.entries.delete(key);
    share.weight -= entry.weight;
    if (share.entries.size === 0) this.#shares.delete(owner);
    this.#owners.delete(key);
    this.#weight -= entry.weight;
    return true;
  }

  clear(): void {
    this.#shares.clear();
    this.#owners.clear();
    this.#weight = 0;
  }

  #shareOf(key: Key): Share<Key, Value> | undefined {
    const owner = this.#owners.get(key);
    return owner === undefined ? undefined : this.#shares.get(owner);
  }

  #evict(kept: Key): void {
    const shares = [...this.#shares.values()].sort((a, b) => b.weight - a.weight);
    for (const { entries } of shares) {
      for (const key of entries.keys()) {
        if (key === kept) continue;
        this.delete(key);
        return;
      }
    }
  }
}
