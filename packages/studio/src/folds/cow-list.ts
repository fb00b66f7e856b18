/**
 * A list that grows at its end and is copied cheaply: a copy shares the pieces of its origin, and the one that changes a piece first
 * takes a piece of its own. A change costs the same however long the list is.
 */

const PIECE = 256;

export class CowList<Item> {
  #pieces: Item[][] = [];
  /** Whether this list alone holds the piece. */
  #own: boolean[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get(index: number): Item | undefined {
    return this.#pieces[Math.floor(index / PIECE)]?.[index % PIECE];
  }

  /** Returns the index of the new item. */
  push(item: Item): number {
    const at = this.#length;
    if (at % PIECE === 0) {
      this.#pieces.push([item]);
      this.#own.push(true);
    } else this.#owned(Math.floor(at / PIECE)).push(item);
    this.#length = at + 1;
    return at;
  }

  /** Changes nothing if there is no such index. */
  set(index: number, item: Item): void {
    if (index >= 0 && index < this.#length) this.#owned(Math.floor(index / PIECE))[index % PIECE] = item;
  }

  /** A copy. Both go on by themselves. */
  fork(): CowList<Item> {
    const copy = new CowList<Item>();
    copy.#pieces = [...this.#pieces];
    this.#own.fill(false);
    copy.#own = [...this.#own];
    copy.#length = this.#length;
    return copy;
  }

  /** The last index whose item passes; items that pass come before those that do not. */
  lastWhere(passes: (item: Item) => boolean): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.get(middle);
      if (item !== undefined && passes(item)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  *[Symbol.iterator](): IterableIterator<Item> {
    for (const piece of this.#pieces) yield* piece;
  }

  #owned(index: number): Item[] {
    const piece = this.#pieces[index] ?? [];
    if (this.#own[index]) return piece;
    const copy = [...piece];
    this.#pieces[index] = copy;
    this.#own[index] = true;
    return copy;
  }
}
