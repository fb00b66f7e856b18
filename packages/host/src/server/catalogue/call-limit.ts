/** Limits the calls of one tool by the runs of one principal, on all nodes together. */
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import { TokenBuckets } from '../../token-buckets.ts';

export class CallLimit implements SharedCounters {
  /** Null if nothing is limited. */
  readonly #buckets: TokenBuckets | null;

  constructor(perMinute: number | undefined, now: () => number) {
    this.#buckets =
      perMinute === undefined ? null : new TokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now });
  }

  /** Takes a call. Returns 0, or the milliseconds to wait when there is none left. */
  take(tenant: string, principal: string | null, toolId: string): number {
    return this.#buckets?.take(JSON.stringify([tenant, principal, toolId])) ?? 0;
  }

  /** A call is over at once: only the rate is limited. */
  held(): Iterable<readonly [string, number]> {
    return [];
  }

  elsewhere(): void {}

  spent(): Iterable<readonly [string, number]> {
    return this.#buckets?.spent() ?? [];
  }

  charge(name: string, count: number): void {
    this.#buckets?.charge(name, count);
  }
}
