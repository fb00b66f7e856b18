/** How far the log is settled: up to there, no new row appears. Shared by all readers of the whole log on a node. */
import type { Queries } from './database.ts';

/** Between two looks at transactions that are under way, and how long a reader waits for them at most. */
const LOOK_MS = 2;
const LOOKS = 500;

interface Sample {
  readonly last: number;
  readonly xmin: number;
  readonly xmax: number;
}

export class Horizon {
  readonly #queries: Queries;
  readonly #delay: (ms: number) => Promise<void>;
  #settled = 0;
  /** The newest sample whose transactions are not all over. */
  #open: Sample | null = null;

  constructor(queries: Queries, delay: (ms: number) => Promise<void>) {
    this.#queries = queries;
    this.#delay = delay;
  }

  /** Waits until everything that was written before the call is settled, or for a second. */
  async end(): Promise<number> {
    const first = await this.#sample();
    let { settled } = first;
    for (let looks = 0; settled < first.last && looks < LOOKS; looks += 1) {
      await this.#delay(LOOK_MS);
      settled = (await this.#sample()).settled;
    }
    return Math.max(settled, 0);
  }

  async #sample(): Promise<{ readonly settled: number; readonly last: number }> {
    const [[last, xmin, xmax] = [0, 0, 0]] = await this.#queries.rows<[number, number, number]>(
      'SELECT last, xmin, xmax FROM cairn.horizon()',
    );
    const sample = { last, xmin, xmax };
    if (this.#open !== null && xmin >= this.#open.xmax) {
      this.#settle(this.#open.last);
      this.#open = null;
    }
    if (xmin >= xmax) this.#settle(last);
    else this.#open ??= sample;
    return { settled: this.#settled, last };
  }

  #settle(last: number): void {
    this.#settled = Math.max(this.#settled, last);
  }
}
