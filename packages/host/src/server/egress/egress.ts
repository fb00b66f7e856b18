/**
 * The only outbound path for addresses from data (webhooks, callbacks). It checks the address, resolves the name once
 * and connects to the checked address.
 */
import { isCairnError, quoted, RetryableError } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import { thrownCode } from '../../thrown-code.ts';
import { refusedRange } from './addresses.ts';
import { type OutboundResponse, pinnedRequest } from './pinned-request.ts';
import { parseTarget, rejected, type Target } from './target.ts';

export type { OutboundResponse } from './pinned-request.ts';

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange: DNS, connection, request and response. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** Aborts the exchange, e.g. when the host stops. */
  readonly signal?: AbortSignal;
}

export interface Egress {
  /**
   * Throws `http_url_rejected` when the address may not be called now, `http_network_error` when its name does not
   * resolve.
   */
  check(url: string): Promise<void>;
  /**
   * Checks again, then sends. Redirects are returned, not followed. Also throws `http_timeout` and
   * `http_network_error`.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>;
}

/** Resolves a name to all its addresses. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface EgressPorts {
  /** Origins that the operator allows (`egress.allow`); only exact matches pass. */
  readonly allow: readonly string[];
  readonly resolve: Resolve;
  readonly timers: Timers;
}

const CHECK_TIMEOUT_MS = 5_000;

export function createEgress({ allow, resolve, timers }: EgressPorts): Egress {
  const listed = new Set(allow.map((origin) => new URL(origin).origin));

  const addressesOf = async (target: Target, signal: AbortSignal): Promise<readonly string[] | null> => {
    if (target.isListed) return null;
    if (target.address !== null) return [target.address];
    const { hostname } = target.url;
    const addresses = await resolve(hostname, signal);
    if (addresses.length === 0) throw unknownName(hostname);
    // A private address among public ones is an attack, not an accident, so it refuses the whole name.
    for (const address of addresses) {
      const refused = refusedRange(address);
      if (refused !== null)
        throw rejected(target.url.origin, `${quoted(hostname, 80)} leads to ${address}, ${refused}`);
    }
    return addresses;
  };

  const within = async <Result>(
    work: { readonly url: string; readonly ms: number; readonly signal?: AbortSignal | undefined },
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    const time = new AbortController();
    const cancel = timers.after(work.ms, () => time.abort());
    const signal = work.signal === undefined ? time.signal : AbortSignal.any([time.signal, work.signal]);
    try {
      return await run(signal);
    } catch (error) {
      if (isCairnError(error)) throw error;
      throw time.signal.aborted ? tooSlow(work.url, work.ms) : failed(work.url, error);
    } finally {
      cancel();
    }
  };

  return {
    async check(url) {
      const target = parseTarget(url, listed);
      await within({ url, ms: CHECK_TIMEOUT_MS }, (signal) => addressesOf(target, signal));
    },
    async send(request) {
      const { url, method, headers, body, maxBodyBytes } = request;
      const target = parseTarget(url, listed);
      return within({ url, ms: request.timeoutMs, signal: request.signal }, async (signal) => {
        const addresses = await addressesOf(target, signal);
        return pinnedRequest({ url: target.url, addresses, method, headers, body, maxBodyBytes, signal });
      });
    },
  };
}

/** Paths and queries may contain the owner's secrets, so messages show only the origin. */
const originOf = (url: string): string => new URL(url).origin;

const unknownName = (hostname: string): RetryableError =>
  new RetryableError('http_network_error', {
    message: `The name ${quoted(hostname, 80)} has no address.`,
    hint: 'Check the spelling; the name must be in the public DNS.',
  });

const tooSlow = (url: string, ms: number): RetryableError =>
  new RetryableError('http_timeout', {
    message: `${originOf(url)} did not answer within ${ms} ms.`,
    hint: 'The receiver has to answer first and do its work afterwards.',
  });

function failed(url: string, cause: unknown): RetryableError {
  const code = thrownCode(cause);
  const reason = typeof code === 'string' ? code : cause instanceof Error ? quoted(cause.message, 120) : 'unknown';
  return new RetryableError('http_network_error', {
    message: `${originOf(url)} could not be reached (${reason}).`,
    hint: 'Check that the receiver runs, and that its certificate is valid.',
    cause,
  });
}
