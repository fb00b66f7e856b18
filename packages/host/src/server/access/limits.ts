/**
 * Limits per caller: requests per second and in flight, open streams and polls, and failed authentications per minute.
 */
import { RetryableError } from '@cairn/protocol';
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import { TokenBuckets } from '../../token-buckets.ts';
import type { LimitsConfig } from '../config/access.ts';
import { networkOf } from './addresses.ts';
import type { Caller } from './auth.ts';

export type AccessLimits = Pick<
  LimitsConfig,
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

export class Limits implements SharedCounters {
  readonly #keys: TokenBuckets | null;
  readonly #tenants: TokenBuckets | null;
  /** Failed attempts by name: an address, or the credential of a known caller. */
  readonly #failures: TokenBuckets;
  readonly #taken = new Map<string, number>();
  /** What is taken on other nodes. */
  #elsewhere: ReadonlyMap<string, number> = new Map();
  readonly #limits: AccessLimits;

  constructor(limits: AccessLimits, now: () => number) {
    const buckets = (perSecond: number | undefined) =>
      perSecond === undefined ? null : new TokenBuckets({ perSecond, burst: perSecond, now });
    const failures = limits.maxFailedAuthPerMinute;
    this.#limits = limits;
    this.#keys = buckets(limits.maxRequestsPerSecondPerKey);
    this.#tenants = buckets(limits.maxRequestsPerSecondPerTenant);
    this.#failures = new TokenBuckets({ perSecond: failures / 60, burst: failures, now });
  }

  /** Counts a request of a known caller. A request refused by its key's limit does not count against the tenant's. */
  request(caller: Caller): void {
    const { maxRequestsPerSecondPerKey, maxRequestsPerSecondPerTenant } = this.#limits;
    this.#refuse('key', this.#failures.wait(keyName(caller)));
    const key = this.#keys?.take(caller.credential) ?? 0;
    if (key > 0) throw tooMany('key', `${maxRequestsPerSecondPerKey} requests a second`, key);
    const tenant = this.#tenants?.take(caller.tenant) ?? 0;
    if (tenant > 0) throw tooMany('tenant', `${maxRequestsPerSecondPerTenant} requests a second`, tenant);
  }

  /**
   * Refuses an address with too many failed attempts, whatever credential it sends. Call it before the credential is
   * checked: an answer that depends on the credential would tell whether a guess is right.
   */
  checkAddress(address: string): void {
    this.#refuse('global', this.#failures.wait(addressName(address)));
  }

  /** Counts a request with an invalid credential. Throws when the address has used up its attempts. */
  failure(address: string): void {
    this.#refuse('global', this.#failures.take(addressName(address)));
  }

  /**
   * Counts a request that contained a secret of the host. Its sender may be guessing: redaction tells that a guess is
   * right. A known caller pays with its credential, so that its neighbours do not.
   */
  secretSent(sender: Caller | string): void {
    this.#failures.take(typeof sender === 'string' ? addressName(sender) : keyName(sender));
  }

  #refuse(scope: LimitScope, waitMs: number): void {
    if (waitMs > 0) throw tooMany(scope, `${this.#limits.maxFailedAuthPerMinute} failed attempts a minute`, waitMs);
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
      const taken = this.#in(name) + (this.#elsewhere.get(name) ?? 0);
      if (max !== undefined && taken >= max) throw tooMany(scope, `${max} ${what}`, retryMs);
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

  /** Open streams and long polls of a tenant on this node. */
  openStreams(tenant: string): number {
    return this.#in(`t ${tenant}`);
  }

  /** On all nodes, as far as this one knows. */
  openStreamsOnAllNodes(tenant: string): number {
    return this.openStreams(tenant) + (this.#elsewhere.get(`t ${tenant}`) ?? 0);
  }

  held(): Iterable<readonly [string, number]> {
    return this.#taken;
  }

  elsewhere(held: ReadonlyMap<string, number>): void {
    this.#elsewhere = held;
  }

  *spent(): Generator<readonly [string, number]> {
    for (const [rate, buckets] of Object.entries(this.#rates)) {
      for (const [name, count] of buckets?.spent() ?? []) yield [`${rate} ${name}`, count];
    }
  }

  charge(name: string, count: number): void {
    const space = name.indexOf(' ');
    this.#rates[name.slice(0, space)]?.charge(name.slice(space + 1), count);
  }

  /** By the names that other nodes know them by. */
  get #rates(): Readonly<Record<string, TokenBuckets | null>> {
    return { key: this.#keys, tenant: this.#tenants, failure: this.#failures };
  }

  #in(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}

const addressName = (address: string): string => `a ${networkOf(address)}`;
const keyName = ({ credential }: Caller): string => `c ${credential}`;

function tooMany(scope: LimitScope, limit: string, retryAfterMs: number): RetryableError {
  const whose = { key: 'This key has', tenant: 'This tenant has', global: 'This address has' }[scope];
  return new RetryableError('rate_limited', {
    message: `${whose} used up its ${limit}.`,
    hint: 'Wait for the time in Retry-After, then send the request again.',
    details: { scope, limit, retryAfterMs },
  });
}
