/** Which cursors this node wrote itself. While it writes alone, it needs to read nothing of others. */

interface Range {
  readonly first: number;
  last: number;
}

/** A node that writes among others has many ranges, and none of them covers anything: the oldest are then forgotten. */
const MAX_RANGES = 1_000;

export class OwnRanges {
  readonly #ranges: Range[] = [];

  /** Rows that were written together. Only those without a gap count. */
  add(first: number, last: number, rows: number): void {
    if (last - first + 1 !== rows) return;
    const newest = this.#ranges.at(-1);
    if (newest !== undefined && newest.last + 1 === first) newest.last = last;
    else this.#ranges.push({ first, last });
    if (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }

  /** Whether every cursor after one and up to another is own. */
  covers(after: number, through: number): boolean {
    return this.#ranges.some(({ first, last }) => first <= after + 1 && last >= through);
  }

  forget(through: number): void {
    while ((this.#ranges[0]?.last ?? Number.POSITIVE_INFINITY) <= through) this.#ranges.shift();
  }
}
