/** Wu-Manber skip table: skips several characters at a time where no pattern can begin, which is nearly everywhere. */

/** Characters per block. Smaller blocks select too little; larger ones shorten the skips. */
const BLOCK = 3;

export class SkipTable {
  /** Length of the shortest pattern. Only this many characters of longer patterns are used. */
  readonly #window: number;
  /** By block: how far a window that ends with the block can move. 0 when a pattern may begin at the window. */
  readonly #leaps = new Uint8Array(0x10000);

  constructor(patterns: readonly string[]) {
    this.#window = Math.min(255, ...patterns.map(({ length }) => length));
    const longest = this.#window - BLOCK + 1;
    this.#leaps.fill(Math.max(longest, 0));
    for (const text of patterns) {
      for (let end = BLOCK - 1; end < this.#window; end++) {
        const at = blockOf(text, end);
        this.#leaps[at] = Math.min(this.#leaps[at] as number, this.#window - 1 - end);
      }
    }
  }

  /** The first position from `from` on where a pattern may begin; -1 when there is none. */
  next(text: string, from: number): number {
    const window = this.#window;
    if (window < BLOCK) return from < text.length ? from : -1;
    const leaps = this.#leaps;
    for (let end = from + window - 1; end < text.length; ) {
      const leap = leaps[blockOf(text, end)] as number;
      if (leap === 0) return end - window + 1;
      end += leap;
    }
    return -1;
  }
}

/** Table index of the block that ends at `end`. */
const blockOf = (text: string, end: number): number =>
  ((text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & 0xffff;
