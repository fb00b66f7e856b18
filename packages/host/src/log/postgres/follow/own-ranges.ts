/** Which cursors this node wrote itself. While it writes alone, it needs to read nothing of others. */

interface Range {
  readonly first: number;
  readonly last: number;
}

/** A node that writes among others has many ranges, and none of them covers anything: the oldest are then forgotten. */
const MAX_RANGES = 1_000;

export class OwnRanges {
  /** In order, with gaps between them. */
  readonly #ranges: Range[] = [];

  /** Rows of one commit. Batches that are written at once draw their cursors in turns. */
  add(cursors: readonly number[]): void {
    let first = cursors[0];
    if (first === undefined) return;
    let last = first;
    for (const cursor of cursors.slice(1)) {
      if (cursor !== last + 1) {
        this.#insert({ first, last });
        first = cursor;
      }
      last = cursor;
    }
    this.#insert({ first, last });
    while (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }

  /** The last cursor up to which all are own, after this one; this one if the next is not. */
  endAfter(cursor: number): number {
    const range = this.#ranges.find(({ first, last }) => first <= cursor + 1 && last > cursor);
    return range?.last ?? cursor;
  }

  forget(through: number): void {
    while ((this.#ranges[0]?.last ?? Number.POSITIVE_INFINITY) <= through) this.#ranges.shift();
  }

  /** Joins the ranges that it touches. New ranges are near the end. */
  #insert({ first, last }: Range): void {
    let place = this.#ranges.length;
    while (place > 0 && (this.#ranges[place - 1]?.first ?? 0) > first) place -= 1;
    const [before, after] = [this.#ranges[place - 1], this.#ranges[place]];
    const isJoinedBefore = before !== undefined && before.last + 1 === first;
    const isJoinedAfter = after !== undefined && last + 1 === after.first;
    const joined = { first: isJoinedBefore ? before.first : first, last: isJoinedAfter ? after.last : last };
    this.#ranges.splice(isJoinedBefore ? place - 1 : place, Number(isJoinedBefore) + Number(isJoinedAfter), joined);
  }
}
