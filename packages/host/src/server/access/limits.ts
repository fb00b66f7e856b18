/**
 * Limits per caller: requests per second and in flight, open streams and polls, and failed authentications per minute.
 */
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

/** The subject of a limit, in the wire's terms. Requests without a known caller count as `global`. */
type LimitScope = 'key' | 'tenant' | 'global';

/** Retry delay for streams: another stream has to end first, at an unknown time. */
const STREAM_RETRY_MS = 5_000;

/** Retry delay for requests in flight, which are short. */
const REQUEST_RETRY_MS = 1_000;

/** A counter with a maximum. */
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

  /** Counts a request of a known caller. A request refused by its key's limit does not count against the tenant's. */
  request(caller: Caller): void {
    const { maxRequestsPerSecondPerKey, maxRequestsPerSecondPerTenant } = this.#limits;
    const key = this.#keys?.take(caller.credential) ?? 0;
    if (key > 0) throw tooMany('key', `${maxRequestsPerSecondPerKey} requests a second`, key);
    const tenant = this.#tenants?.take(caller.tenant) ?? 0;
    if (tenant > 0) throw tooMany('tenant', `${maxRequestsPerSecondPerTenant} requests a second`, tenant);
  }

  /** Counts a request with an invalid credential. Valid requests from the same address are never delayed by it. */
  failure(address: string): void {
    const wait = this.#strangers.take(network(address));
    if (wait > 0) throw tooMany('global', `${this.#limits.maxFailedAuthPerMinute} wrong keys a minute`, wait);
  }

  /** Takes a slot for a request until it is answered. Call the returned function once to release it. */
  begin(caller: Caller): () => void {
    const max = this.#limits.maxRequestsInFlightPerKey;
    return this.#take([{ name: `r ${caller.credential}`, scope: 'key', max }], 'requests at a time', REQUEST_RETRY_MS);
  }

  /** Takes a slot for a stream or a long poll. Call the returned function once to release it. */
  hold({ credential, tenant }: Caller): () => void {
    const { maxOpenStreamsPerKey, maxOpenStreamsPerTenant } = this.#limits;
    const rooms = [
      { name: `c ${credential}`, scope: 'key', max: maxOpenStreamsPerKey },
      { name: `t ${tenant}`, scope: 'tenant', max: maxOpenStreamsPerTenant },
    ] as const;
    return this.#take(rooms, 'open streams', STREAM_RETRY_MS);
  }

  /**
   * Takes a slot in every room or in none. Room names have prefixes, because a tenant may be named like a credential.
   */
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

/** An IPv6 client usually controls a whole /64, so the network counts as one address. */
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
