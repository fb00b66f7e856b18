/** So many a second for each name, with some at once: a token bucket a name, in memory that does not grow with the names. */

export interface BucketRule {
  readonly perSecond: number;
  /** How many may come at once after a rest. */
  readonly burst: number;
  readonly now: () => number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Names that are remembered; beyond them the longest known are forgotten, which only ever lets somebody through. */
const MAX_NAMES = 10_000;

export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #rule: BucketRule;

  constructor(rule: BucketRule) {
    this.#rule = rule;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one; gives 0, or how many milliseconds to wait when there is none. */
  take(name: string): number {
    const { perSecond, burst, now } = this.#rule;
    const at = now();
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_NAMES) this.#forget(at);
      this.#buckets.set(name, { tokens: burst - 1, at });
      return 0;
    }
    bucket.tokens = this.#filled(bucket, at);
    bucket.at = at;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1000);
    bucket.tokens -= 1;
    return 0;
  }

  /** A clock that was set back fills nothing. */
  #filled({ tokens, at }: Bucket, now: number): number {
    const { perSecond, burst } = this.#rule;
    return Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond);
  }

  /** A full bucket is as good as none; when there are none of those, a tenth goes, oldest first. */
  #forget(now: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (this.#filled(bucket, now) >= this.#rule.burst) this.#buckets.delete(name);
    }
    if (this.#buckets.size < MAX_NAMES) return;
    let rest = MAX_NAMES / 10;
    for (const name of this.#buckets.keys()) {
      this.#buckets.delete(name);
      rest -= 1;
      if (rest === 0) return;
    }
  }
}
