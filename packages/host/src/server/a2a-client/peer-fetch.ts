/**
 * The requests of one call to a peer: only to its configured origins, without redirects, and with one limit on all that
 * it sends back. What breaks a rule ends the request.
 */
import { isCairnError } from '@cairn/protocol';
import { countedResponse } from '../peers/counted-response.ts';
import { elsewhere, RequestFailure, requestFailure, tooManyValues, tooMuch } from './peer-error.ts';
import type { PeerSettings } from './peer-settings.ts';

/** Carries the trace of the call in progress. */
export type Fetch = typeof globalThis.fetch;

/** Throws a `RequestFailure`, an error of the host, or the reason of the signal. */
export type PeerFetch = (url: string, init: RequestInit & { readonly signal: AbortSignal }) => Promise<Response>;

/** A fetch for one call. Its responses share one limit of bytes, counted after decompression. */
export function peerFetch(peer: PeerSettings, fetch: Fetch): PeerFetch {
  const allowed = new Set([new URL(peer.url).origin, ...peer.origins]);
  let room = peer.maxResponseBytes;
  const spend = (bytes: number) => {
    room -= bytes;
    if (room < 0) throw tooMuch(peer, `${peer.maxResponseBytes} bytes`, 'maxResponseBytes');
  };
  return async (url, init) => {
    const { origin } = new URL(url);
    if (!allowed.has(origin)) throw elsewhere(peer, origin);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(peer.headers)) headers.set(name, value.reveal());
    const response = await sent(() => fetch(url, { ...init, headers, redirect: 'manual' }), peer.name, init.signal);
    const { status, body } = response;
    if (status >= 300 && status < 400 && status !== 304) {
      await body?.cancel();
      throw elsewhere(peer, response.headers.get('location') ?? 'another address');
    }
    return countedResponse(response, { spend, tooManyValues: () => tooManyValues(peer, 'one message') });
  };
}

async function sent(send: () => Promise<Response>, peer: string, signal: AbortSignal): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(peer, error);
  }
}

/** What a response that breaks off means. */
export function failureOf(peer: string, error: unknown): Error {
  if (isCairnError(error) || error instanceof RequestFailure) return error;
  return requestFailure(peer, error);
}
