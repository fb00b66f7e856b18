/** So many a second for each name, with some at once: a token bucket a name, in memory that does not grow with the names. */

export interface BucketRule {
  readonly perSecond: number;
  /** How many may come at once after a rest. */
  readonly burst: number;
  readonly now: () => number;
}

/** Names that are remembered; beyond them the longest known are forgotten, which only ever lets somebody through. */
const MAX_NAMES = 10_000;

export class TokenBuckets {
  /** When each name's bucket is full again: all there is to know about it. */
  readonly #fullAt = new Map<string, number>();
  readonly #rule: BucketRule;

  constructor(rule: BucketRule) {
    this.#rule = rule;
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes one; gives 0, or how many milliseconds to wait when there is none. */
  take(name: string): number {
    const { perSecond, burst } = this.#rule;
    const now = this.#rule.now();
    const spanMs = 1000 / perSecond;
    const known = this.#fullAt.get(name);
    if (known === undefined && this.#fullAt.size >= MAX_NAMES) this.#forget(now);
    // Never later than an empty bucket would be: a clock that was set back must not lock anybody out.
    const fullAt = Math.min(Math.max(known ?? now, now), now + burst * spanMs);
    const waitMs = fullAt - now - (burst - 1) * spanMs;
    // Spans are fractions of milliseconds; what is less than a thousandth is their rounding.
    const isEmpty = waitMs > 0.001;
    this.#fullAt.set(name, isEmpty ? fullAt : fullAt + spanMs);
    return isEmpty ? Math.ceil(waitMs - 0.001) : 0;
  }

  /** A full bucket is as good as none; when there are none of those, a tenth goes, oldest first. */
  #forget(now: number): void {
    for (const [name, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(name);
    if (this.#fullAt.size < MAX_NAMES) return;
    let rest = MAX_NAMES / 10;
    for (const name of this.#fullAt.keys()) {
      this.#fullAt.delete(name);
      rest -= 1;
      if (rest === 0) return;
    }
  }
}
