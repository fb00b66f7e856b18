/** Positions of events with the hashes of what they say: plain numbers, so that they are no work for the collector. */

/** Events of one block. */
const BLOCK = 4_096;

export class Places {
  /** A sequence and a hash for each event, in turn. A full block is never copied. */
  readonly #blocks: Float64Array[] = [];
  length = 0;

  push(seq: number, hash: number): void {
    const at = (this.length % BLOCK) * 2;
    if (at === 0) this.#blocks.push(new Float64Array(2 * BLOCK));
    const block = this.#blocks.at(-1);
    if (block === undefined) return;
    block[at] = seq;
    block[at + 1] = hash;
    this.length += 1;
  }

  /** Undefined after the last event. */
  seq(index: number): number | undefined {
    return index < this.length ? this.#blocks[Math.floor(index / BLOCK)]?.[(index % BLOCK) * 2] : undefined;
  }

  hash(index: number): number | undefined {
    return index < this.length ? this.#blocks[Math.floor(index / BLOCK)]?.[(index % BLOCK) * 2 + 1] : undefined;
  }
}
