/** How far the log is settled: up to there, no new row appears. Shared by all readers of the whole log on a node. */
import type { Queries } from './database.ts';

/** Between two looks at transactions that are under way, and how often a reader looks at most. */
const LOOK_MS = 2;
const LOOKS = 500;

/** What was under way when the newest cursor was `last`. */
interface Sample {
  readonly last: number;
  readonly running: readonly string[];
}

export class Horizon {
  readonly #queries: Queries;
  readonly #delay: (ms: number) => Promise<void>;
  #settled = 0;
  /** The oldest sample whose transactions are not all over. */
  #open: Sample | null = null;

  constructor(queries: Queries, delay: (ms: number) => Promise<void>) {
    this.#queries = queries;
    this.#delay = delay;
  }

  /** Waits until everything that was written before the call is settled, or for about a second. */
  async end(): Promise<number> {
    const { last } = await this.#look();
    for (let looks = 0; this.#settled < last && looks < LOOKS; looks += 1) {
      await this.#delay(LOOK_MS);
      await this.#look();
    }
    return this.#settled;
  }

  async #look(): Promise<Sample> {
    // The sample before the query: what another look finds meanwhile may be newer than the answer.
    const open = this.#open;
    const [[last, text] = [0, '[]']] = await this.#queries.rows<[number, string]>(
      'SELECT last, running FROM cairn.horizon()',
    );
    const running: readonly string[] = JSON.parse(text);
    if (open !== null && !open.running.some((one) => running.includes(one))) {
      this.#settle(open.last);
      if (this.#open === open) this.#open = null;
    }
    const sample = { last, running };
    if (running.length === 0) this.#settle(last);
    else this.#open ??= sample;
    return sample;
  }

  #settle(last: number): void {
    this.#settled = Math.max(this.#settled, last);
  }
}
