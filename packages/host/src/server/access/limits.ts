/** How much one caller may ask for: requests a second and at a time, streams and polls at a time, wrong keys a minute. */
import { RetryableError } from '@cairn/protocol';
import ipaddr from 'ipaddr.js';
import type { HostLimits } from '../config/access.ts';
import type { Caller } from './auth.ts';
import { TokenBuckets } from './token-buckets.ts';

export type AccessLimits = Pick<
  HostLimits,
  | 'maxRequestsPerSecondPerKey'
  | 'maxRequestsPerSecondPerTenant'
  | 'maxRequestsInFlightPerKey'
  | 'maxOpenStreamsPerKey'
  | 'maxOpenStreamsPerTenant'
  | 'maxFailedAuthPerMinute'
>;

/** Who a limit is for, by the wire's names; those of no caller at all count as the host's. */
type LimitScope = 'key' | 'tenant' | 'global';

/** When to ask again for a stream: one has to end first, and nobody knows when. */
const STREAM_RETRY_MS = 5_000;

/** When to ask again while too many requests are under way: they are short. */
const REQUEST_RETRY_MS = 1_000;

/** What has a bounded number of places. */
interface Room {
  readonly name: string;
  readonly scope: 'key' | 'tenant';
  readonly max: number | undefined;
}

export class Limits {
  readonly #keys: TokenBuckets | null;
  readonly #tenants: TokenBuckets | null;
  readonly #strangers: TokenBuckets;
  readonly #taken = new Map<string, number>();
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

  /** Takes a place for a request until it is answered; gives the way to give it back, once. */
  begin(caller: Caller): () => void {
    const max = this.#limits.maxRequestsInFlightPerKey;
    return this.#take([{ name: `r ${caller.credential}`, scope: 'key', max }], 'requests at a time', REQUEST_RETRY_MS);
  }

  /** Takes a place for a stream or a long poll; gives the way to give it back, once. */
  hold({ credential, tenant }: Caller): () => void {
    const { maxOpenStreamsPerKey, maxOpenStreamsPerTenant } = this.#limits;
    const rooms = [
      { name: `c ${credential}`, scope: 'key', max: maxOpenStreamsPerKey },
      { name: `t ${tenant}`, scope: 'tenant', max: maxOpenStreamsPerTenant },
    ] as const;
    return this.#take(rooms, 'open streams', STREAM_RETRY_MS);
  }

  /** In every room, or in none. Their names are spelt apart: a tenant may have any name, also one like a credential. */
  #take(rooms: readonly Room[], what: string, retryMs: number): () => void {
    for (const { name, scope, max } of rooms) {
      if (max !== undefined && this.#in(name) >= max) throw tooMany(scope, `${max} ${what}`, retryMs);
    }
    for (const { name } of rooms) this.#taken.set(name, this.#in(name) + 1);
    return () => {
      for (const { name } of rooms) {
        const left = this.#in(name) - 1;
        if (left > 0) this.#taken.set(name, left);
        else this.#taken.delete(name);
      }
    };
  }

  #in(name: string): number {
    return this.#taken.get(name) ?? 0;
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
