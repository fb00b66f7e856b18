/** A client for a host that may be hostile or slow: short limits, no retries, a trace of its own. */
import { type Client, createClient } from '@cairn/client';
import { boundedFetch } from './bounded-fetch.ts';

const TIMEOUT_MS = 10_000;

export interface PeerAddress {
  readonly url: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sees each response. */
  readonly onResponse?: (response: Response) => void;
}

export function peerClient({ url, key, headers = {}, onResponse = () => undefined }: PeerAddress): Client {
  const fetch = boundedFetch(headers);
  return createClient({
    url,
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    ...(key === undefined ? {} : { key }),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      onResponse(response);
      return response;
    },
  });
}
