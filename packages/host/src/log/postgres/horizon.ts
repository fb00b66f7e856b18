/** How far the log is settled: up to there, no new row appears. Shared by all readers of the whole log on a node. */
import { RetryableError } from '@cairn/protocol';
import type { Queries } from './database.ts';

/** Between two looks at transactions that are under way, and how often a reader and a node that starts look at most. */
const LOOK_MS = 2;
const LOOKS = 500;
const START_LOOKS = 30_000;

/** What was under way when the newest cursor was `last`. */
interface Sample {
  readonly last: number;
  readonly running: readonly string[];
}

/** What was known before a query. */
interface Begun {
  readonly settled: number;
  readonly open: Sample | null;
}

export const sampleOf = (last: number, running: string): Sample => ({ last, running: JSON.parse(running) });

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
    await this.#settle(LOOKS);
    return this.#settled;
  }

  /** Where a node begins that knows of nothing yet: what was written before is nothing new to it. */
  async start(): Promise<number> {
    if (!(await this.#settle(START_LOOKS))) throw neverSettled();
    return this.#settled;
  }

  /** To be called before a query. Its answer may be older than what another query finds meanwhile. */
  begin(): Begun {
    return { settled: this.#settled, open: this.#open };
  }

  /** Takes the sample of a query. Returns the cursor up to which a read after that sample finds everything settled. */
  take(sample: Sample, { settled, open }: Begun): number {
    let end = settled;
    if (open !== null && !open.running.some((one) => sample.running.includes(one))) {
      end = Math.max(end, open.last);
      if (this.#open === open) this.#open = null;
    }
    if (sample.running.length === 0) end = Math.max(end, sample.last);
    else this.#open ??= sample;
    this.#settled = Math.max(this.#settled, end);
    return end;
  }

  /** Returns whether everything that was written before the call is settled now. */
  async #settle(most: number): Promise<boolean> {
    const { last } = await this.#look();
    for (let looks = 0; this.#settled < last && looks < most; looks += 1) {
      await this.#delay(LOOK_MS);
      await this.#look();
    }
    return this.#settled >= last;
  }

  async #look(): Promise<Sample> {
    const begun = this.begin();
    const [[last, running] = [0, '[]']] = await this.#queries.rows<[number, string]>(
      'SELECT last, running FROM cairn.horizon()',
    );
    const sample = sampleOf(last, running);
    this.take(sample, begun);
    return sample;
  }
}

const neverSettled = (): RetryableError =>
  new RetryableError('store_failed', {
    message: 'A transaction that writes events has been under way in the database for a minute.',
    hint: 'Look for it in pg_stat_activity. An import of a large run may take as long: start the node again later.',
  });
