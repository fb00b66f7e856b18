/** Rate limits with bursts: one token bucket per name, in bounded memory. */

export interface BucketRule {
  readonly perSecond: number;
  /** How many requests may come at once after a pause. */
  readonly burst: number;
  readonly now: () => number;
}

/** Maximum number of names. Above it the oldest are dropped, which can only let a request through. */
const MAX_NAMES = 10_000;

export class TokenBuckets {
  /** When each bucket is full again. This is its entire state. */
  readonly #fullAt = new Map<string, number>();
  /** Tokens that were taken here of each bucket. */
  readonly #taken = new Map<string, number>();
  readonly #rule: BucketRule;

  constructor(rule: BucketRule) {
    this.#rule = rule;
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes one token. Returns 0, or the milliseconds to wait when the bucket is empty. */
  take(name: string): number {
    const { perSecond, burst } = this.#rule;
    const now = this.#rule.now();
    const spanMs = 1000 / perSecond;
    const known = this.#fullAt.get(name);
    if (known === undefined && this.#fullAt.size >= MAX_NAMES) this.#forget(now);
    // Capped at the time for an empty bucket, so that a clock set back locks no caller out.
    const fullAt = Math.min(Math.max(known ?? now, now), now + burst * spanMs);
    const waitMs = fullAt - now - (burst - 1) * spanMs;
    // Spans are fractions of milliseconds; less than a thousandth is rounding error.
    const isEmpty = waitMs > 0.001;
    this.#fullAt.set(name, isEmpty ? fullAt : fullAt + spanMs);
    if (!isEmpty) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
    return isEmpty ? Math.ceil(waitMs - 0.001) : 0;
  }

  /** The milliseconds until a token is available; 0 if there is one. Takes none. */
  wait(name: string): number {
    const { perSecond, burst, now } = this.#rule;
    const fullAt = this.#fullAt.get(name);
    if (fullAt === undefined) return 0;
    const spanMs = 1000 / perSecond;
    // Capped as in `take`.
    const waitMs = Math.min(fullAt - now(), burst * spanMs) - (burst - 1) * spanMs;
    return waitMs > 0.001 ? Math.ceil(waitMs - 0.001) : 0;
  }

  /** The tokens that were taken here of each bucket that is not full. */
  *spent(): Generator<readonly [string, number]> {
    const now = this.#rule.now();
    for (const [name, fullAt] of this.#fullAt) if (fullAt > now) yield [name, this.#taken.get(name) ?? 0];
  }

  /** Takes tokens that were spent elsewhere, as many as there are. */
  charge(name: string, tokens: number): void {
    if (tokens <= 0) return;
    const { perSecond, burst } = this.#rule;
    const now = this.#rule.now();
    const known = this.#fullAt.get(name);
    if (known === undefined && this.#fullAt.size >= MAX_NAMES) this.#forget(now);
    const spanMs = 1000 / perSecond;
    this.#fullAt.set(name, Math.min(Math.max(known ?? now, now) + tokens * spanMs, now + burst * spanMs));
  }

  /** How many tokens of the bucket are taken. */
  used(name: string): number {
    const { perSecond, burst, now } = this.#rule;
    const refillMs = (this.#fullAt.get(name) ?? 0) - now();
    return refillMs <= 0 ? 0 : Math.min(burst, Math.ceil((refillMs * perSecond) / 1000));
  }

  /** Drops full buckets, which equal absent ones. If none is full, drops the oldest tenth. */
  #forget(now: number): void {
    for (const [name, fullAt] of this.#fullAt) if (fullAt <= now) this.#drop(name);
    if (this.#fullAt.size < MAX_NAMES) return;
    let rest = MAX_NAMES / 10;
    for (const name of this.#fullAt.keys()) {
      this.#drop(name);
      rest -= 1;
      if (rest === 0) return;
    }
  }

  #drop(name: string): void {
    this.#fullAt.delete(name);
    this.#taken.delete(name);
  }
}
