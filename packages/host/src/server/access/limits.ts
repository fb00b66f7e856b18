/** How much one caller may ask for: requests a second, streams and polls at a time, wrong keys a minute. */
import { RetryableError } from '@cairn/protocol';
import ipaddr from 'ipaddr.js';
import type { Caller } from '../auth.ts';
import type { HostLimits } from '../config/access.ts';
import { TokenBuckets } from './token-buckets.ts';

export type AccessLimits = Pick<
  HostLimits,
  | 'maxRequestsPerSecondPerKey'
  | 'maxRequestsPerSecondPerTenant'
  | 'maxOpenStreamsPerKey'
  | 'maxOpenStreamsPerTenant'
  | 'maxFailedAuthPerMinute'
>;

/** Who a limit is for, by the wire's names; those of no caller at all count as the host's. */
type LimitScope = 'key' | 'tenant' | 'global';

/** When to ask again for a stream: one has to end first, and nobody knows when. */
const STREAM_RETRY_MS = 5_000;

export class Limits {
  readonly #keys: TokenBuckets | null;
  readonly #tenants: TokenBuckets | null;
  readonly #strangers: TokenBuckets;
  readonly #open = new Map<string, number>();
  readonly #limits: AccessLimits;

  constructor(limits: AccessLimits, now: () => number) {
    const buckets = (perSecond: number | undefined) =>
      perSecond === undefined ? null : new TokenBuckets({ perSecond, burst: perSecond, now });
    const failures = limits.maxFailedAuthPerMinute;
    this.#limits = limits;
    this.#keys = buckets(limits.maxRequestsPerSecondPerKey);
    this.#tenants = buckets(limits.maxRequestsPerSecondPerTenant);
    this.#strangers = new TokenBuckets({ perSecond: failures / 60, burst: failures, now });
  }

  /** Counts a request of a known caller. A request that its own key refuses does not use up the tenant's share. */
  request(caller: Caller): void {
    const { maxRequestsPerSecondPerKey, maxRequestsPerSecondPerTenant } = this.#limits;
    const key = this.#keys?.take(caller.credential) ?? 0;
    if (key > 0) throw tooMany('key', `${maxRequestsPerSecondPerKey} requests a second`, key);
    const tenant = this.#tenants?.take(caller.tenant) ?? 0;
    if (tenant > 0) throw tooMany('tenant', `${maxRequestsPerSecondPerTenant} requests a second`, tenant);
  }

  /** Counts a request with a wrong credential. Good ones from the same address are never held up by it. */
  failure(address: string): void {
    const wait = this.#strangers.take(network(address));
    if (wait > 0) throw tooMany('global', `${this.#limits.maxFailedAuthPerMinute} wrong keys a minute`, wait);
  }

  /** Takes a place for a stream or a long poll; gives the way to give it back, once. */
  hold(caller: Caller): () => void {
    const { maxOpenStreamsPerKey, maxOpenStreamsPerTenant } = this.#limits;
    // Spelt apart: a tenant may have any name, also one that looks like a credential.
    const places = [
      { name: `c ${caller.credential}`, scope: 'key', max: maxOpenStreamsPerKey },
      { name: `t ${caller.tenant}`, scope: 'tenant', max: maxOpenStreamsPerTenant },
    ] as const;
    for (const { name, scope, max } of places) {
      if (max !== undefined && this.#held(name) >= max) throw tooMany(scope, `${max} open streams`, STREAM_RETRY_MS);
    }
    for (const { name } of places) this.#open.set(name, this.#held(name) + 1);
    return () => {
      for (const { name } of places) {
        const left = this.#held(name) - 1;
        if (left > 0) this.#open.set(name, left);
        else this.#open.delete(name);
      }
    };
  }

  #held(name: string): number {
    return this.#open.get(name) ?? 0;
  }
}

/** Whoever has one address of version 6 has the 2^64 beside it. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

function tooMany(scope: LimitScope, limit: string, retryAfterMs: number): RetryableError {
  const whose = { key: 'This key has', tenant: 'This tenant has', global: 'This address has' }[scope];
  return new RetryableError('rate_limited', {
    message: `${whose} used up its ${limit}.`,
    hint: 'Wait for the time in Retry-After, then send the request again.',
    details: { scope, limit, retryAfterMs },
  });
}
