/**
 * How many bytes of records a tenant may leave that no run pays for: refusals, and changes that are no rows of the log.
 * Records stay for a day, so what is taken comes back within one. Other records are part of an append, and the events of
 * a tenant have a quota.
 */
import { RetryableError } from '@cairn/protocol';
import { TokenBuckets } from '../../token-buckets.ts';

/** Of one tenant in a day, at each node. */
export const DAY_BYTES = 268_435_456;

const DAY_SECONDS = 86_400;

/** What of a response is kept. */
interface KeptResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a record takes beside its response: hashes, columns and their indexes. */
const RECORD_BYTES = 500;

/** A refill of a millisecond is no room. */
const LEAST_WAIT_MS = 1_000;

export class RecordAllowance {
  readonly #bytes: TokenBuckets;

  constructor(now: () => number) {
    this.#bytes = new TokenBuckets({ perSecond: DAY_BYTES / DAY_SECONDS, burst: DAY_BYTES, now });
  }

  hasRoom(tenant: string): boolean {
    return this.#bytes.wait(tenant) === 0;
  }

  /** Before a request is carried out. Throws `rate_limited`. */
  admit(tenant: string): void {
    const waitMs = this.#bytes.wait(tenant);
    if (waitMs > 0) throw tooManyRecords(Math.max(waitMs, LEAST_WAIT_MS));
  }

  charge(tenant: string, { headers, body }: KeptResponse): void {
    // Characters are near enough.
    this.#bytes.charge(tenant, RECORD_BYTES + JSON.stringify(headers).length + body.length);
  }
}

const tooManyRecords = (retryAfterMs: number): RetryableError =>
  new RetryableError('rate_limited', {
    message: 'The responses that are kept for requests of this tenant with an Idempotency-Key take too much room.',
    hint: 'Wait, send fewer requests with a key, or leave the key out where a repeat does no harm.',
    details: { scope: 'tenant', limit: `${DAY_BYTES} bytes of recorded responses a day`, retryAfterMs },
  });
