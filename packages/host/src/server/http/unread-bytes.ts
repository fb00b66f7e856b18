/**
 * Limits the bytes of responses that wait in memory because their clients do not read them, for each tenant and in total.
 * A tenant over its limit loses its oldest waiting stream, and gets no further large response. Another tenant's are not
 * affected: when the total is reached, the tenant with the most pays.
 */
import type { ServerResponse } from 'node:http';
import { RetryableError } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';

export interface UnreadLimits {
  readonly maxUnreadBytesPerTenant: number;
  readonly maxUnreadBytes: number;
}

/** A smaller response is not counted: the kernel takes it, and counting would cost every request. */
export const LARGE_BYTES = 262_144;

/** A client gets this long to read a large response, and a second more for every 64 KiB. */
const READ_WITHIN_MS = 30_000;
const BYTES_PER_SECOND = 65_536;

const RETRY_MS = 1_000;

/** What stays in memory while responses wait that are rendered from it. It counts once, however many they are. */
export interface Kept {
  readonly bytes: number;
}

interface WaitingText {
  /** What waits in the socket of one response. */
  readonly bytes: number;
  /** Default: nothing. */
  readonly kept?: Kept | null | undefined;
}

/** A response of which something waits. */
interface Waiting {
  readonly bytes: number;
  readonly kept: Kept | null;
  readonly response: ServerResponse;
}

/** The waiting responses of a tenant, oldest first, and how many of them are rendered from each document. */
interface Account {
  bytes: number;
  readonly waiting: Map<ServerResponse, Waiting>;
  readonly kept: Map<Kept, number>;
}

export class UnreadBytes {
  readonly #limits: UnreadLimits;
  readonly #timers: Timers;
  readonly #accounts = new Map<string, Account>();
  #total = 0;

  constructor(limits: UnreadLimits, timers: Timers) {
    this.#limits = limits;
    this.#timers = timers;
  }

  /** Bytes that wait now. */
  get total(): number {
    return this.#total;
  }

  /**
   * Counts a whole response until it is read, and cuts a client that takes too long. Throws when there is no room. A
   * response larger than the limit of a tenant passes while nothing else of the tenant waits.
   */
  admit(tenant: string, response: ServerResponse, bytes: number): void {
    const { maxUnreadBytesPerTenant, maxUnreadBytes } = this.#limits;
    const held = this.#accounts.get(tenant)?.bytes ?? 0;
    if (held > 0 && held + bytes > maxUnreadBytesPerTenant) throw tenantIsFull(maxUnreadBytesPerTenant);
    while (this.#total > 0 && this.#total + bytes > maxUnreadBytes) {
      const largest = this.#largest();
      if (largest === null || largest.bytes <= held + bytes) throw hostIsFull(maxUnreadBytes);
      this.#cutOldest(largest);
    }
    this.#count(tenant, { bytes, kept: null, response });
    const withinMs = READ_WITHIN_MS + (bytes / BYTES_PER_SECOND) * 1_000;
    const cancel = this.#timers.after(withinMs, () => response.destroy());
    response.once('close', () => {
      cancel();
      this.read(tenant, response);
    });
  }

  /** Counts what waits of a stream, which has taken its text already. Cuts the oldest one when there is no room. */
  wait(tenant: string, response: ServerResponse, { bytes, kept = null }: WaitingText): void {
    this.#count(tenant, { bytes, kept, response });
    const account = this.#accounts.get(tenant);
    while (account !== undefined && account.bytes > this.#limits.maxUnreadBytesPerTenant) this.#cutOldest(account);
    while (this.#total > this.#limits.maxUnreadBytes) {
      const largest = this.#largest();
      if (largest === null) return;
      this.#cutOldest(largest);
    }
  }

  /** The client has read everything, or is gone. */
  read(tenant: string, response: ServerResponse): void {
    const account = this.#accounts.get(tenant);
    if (account === undefined) return;
    this.#forget(account, response);
    if (account.waiting.size === 0) this.#accounts.delete(tenant);
  }

  #count(tenant: string, waiting: Waiting): void {
    const account = this.#accounts.get(tenant) ?? newAccount();
    this.#accounts.set(tenant, account);
    this.#forget(account, waiting.response);
    account.waiting.set(waiting.response, waiting);
    this.#add(account, waiting.bytes);
    if (waiting.kept !== null) this.#share(account, waiting.kept, 1);
  }

  #forget(account: Account, response: ServerResponse): void {
    const waiting = account.waiting.get(response);
    if (waiting === undefined) return;
    account.waiting.delete(response);
    this.#add(account, -waiting.bytes);
    if (waiting.kept !== null) this.#share(account, waiting.kept, -1);
  }

  #share(account: Account, kept: Kept, change: 1 | -1): void {
    const before = account.kept.get(kept) ?? 0;
    const after = before + change;
    if (after === 0) account.kept.delete(kept);
    else account.kept.set(kept, after);
    if (before === 0 || after === 0) this.#add(account, change * kept.bytes);
  }

  #add(account: Account, bytes: number): void {
    account.bytes += bytes;
    this.#total += bytes;
  }

  #cutOldest(account: Account): void {
    for (const { response } of account.waiting.values()) {
      this.#forget(account, response);
      response.destroy();
      return;
    }
  }

  /** The tenant of which most waits. There are as many accounts as tenants with a client that does not read. */
  #largest(): Account | null {
    let largest: Account | null = null;
    for (const account of this.#accounts.values()) {
      if (account.waiting.size > 0 && account.bytes > (largest?.bytes ?? 0)) largest = account;
    }
    return largest;
  }
}

const newAccount = (): Account => ({ bytes: 0, waiting: new Map(), kept: new Map() });

const hint = 'Read the responses that are open, then send the request again.';

const tenantIsFull = (limit: number): RetryableError =>
  new RetryableError('rate_limited', {
    message: `Responses of ${limit} bytes wait to be read by clients of this tenant.`,
    hint,
    details: { scope: 'tenant', limit: `${limit} bytes of unread responses`, retryAfterMs: RETRY_MS },
  });

const hostIsFull = (limit: number): RetryableError =>
  new RetryableError('service_unavailable', {
    message: `Responses of ${limit} bytes wait to be read by clients of this host.`,
    hint,
    details: { reason: 'unread_responses', limit, retryAfterMs: RETRY_MS },
  });
