/**
 * A map that is never changed in place: `with` and `without` return a new one that shares nearly all of the old. Entries
 * keep the order in which they came. A change costs the same however large the map is, within the bounds of a
 * conversation: it copies one piece of 64 entries, and the list of pieces.
 */

type Entry<Value> = readonly [key: string, value: Value];
type Piece<Value> = readonly (Entry<Value> | undefined)[];

const PIECE = 64;

export class OrderedMap<Value> implements ReadonlyMap<string, Value> {
  readonly #pieces: readonly Piece<Value>[];
  /**
   * Where each key is, counted from the first entry ever. Shared with the maps that came of this one, which only add to
   * it: a place counts in a map if the map has the key there.
   */
  readonly #places: Map<string, number>;
  /** The place of the next entry. */
  readonly #end: number;
  readonly size: number;

  private constructor(
    pieces: readonly Piece<Value>[],
    places: Map<string, number>,
    { end, size }: { readonly end: number; readonly size: number },
  ) {
    this.#pieces = pieces;
    this.#places = places;
    this.#end = end;
    this.size = size;
  }

  static empty<Value>(): OrderedMap<Value> {
    return new OrderedMap<Value>([], new Map(), { end: 0, size: 0 });
  }

  get(key: string): Value | undefined {
    return this.#entry(key)?.[1];
  }

  has(key: string): boolean {
    return this.#entry(key) !== undefined;
  }

  with(key: string, value: Value): OrderedMap<Value> {
    const known = this.#entry(key);
    if (known !== undefined) {
      if (known[1] === value) return this;
      return this.#put(this.#places.get(key) ?? 0, [key, value], this.size);
    }
    const place = this.#places.get(key);
    // Another map that came of this one, or an earlier state of it, has the key elsewhere.
    const places = place === undefined || place === this.#end ? this.#places : this.#ownPlaces();
    places.set(key, this.#end);
    const last = this.#pieces.at(-1) ?? [];
    const pieces =
      this.#end % PIECE === 0
        ? [...this.#pieces, [[key, value] as const]]
        : this.#pieces.with(-1, [...last, [key, value]]);
    return new OrderedMap<Value>(pieces, places, { end: this.#end + 1, size: this.size + 1 });
  }

  without(key: string): OrderedMap<Value> {
    if (!this.has(key)) return this;
    const left = this.#put(this.#places.get(key) ?? 0, undefined, this.size - 1);
    return left.#isSparse() ? left.#packed() : left;
  }

  *entries(): MapIterator<[string, Value]> {
    for (const piece of this.#pieces) for (const entry of piece) if (entry !== undefined) yield [entry[0], entry[1]];
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }

  forEach(take: (value: Value, key: string, map: ReadonlyMap<string, Value>) => void): void {
    for (const [key, value] of this.entries()) take(value, key, this);
  }

  #entry(key: string): Entry<Value> | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    const entry = this.#pieces[Math.floor(place / PIECE)]?.[place % PIECE];
    return entry?.[0] === key ? entry : undefined;
  }

  #put(place: number, entry: Entry<Value> | undefined, size: number): OrderedMap<Value> {
    const index = Math.floor(place / PIECE);
    const piece = this.#pieces[index] ?? [];
    const pieces = this.#pieces.with(index, piece.with(place % PIECE, entry));
    return new OrderedMap<Value>(pieces, this.#places, { end: this.#end, size });
  }

  /** Holes, and keys of other maps, are at most as many as entries. */
  #isSparse(): boolean {
    return Math.max(this.#places.size, this.#end) > 2 * this.size + PIECE;
  }

  #packed(): OrderedMap<Value> {
    const entries = [...this.entries()];
    const pieces: Piece<Value>[] = [];
    for (let at = 0; at < entries.length; at += PIECE) pieces.push(entries.slice(at, at + PIECE));
    const places = new Map(entries.map(([key], place) => [key, place]));
    return new OrderedMap<Value>(pieces, places, { end: entries.length, size: entries.length });
  }

  #ownPlaces(): Map<string, number> {
    const own = new Map<string, number>();
    for (const [key] of this.entries()) own.set(key, this.#places.get(key) ?? 0);
    return own;
  }
}
