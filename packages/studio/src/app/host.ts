/** The client of this page. It acts with the session of the page, and proves with its token that the page is ours. */
import { createClient as createHostClient } from '@cairn/client/context';
import { SESSION_TOKEN_HEADER } from '@cairn/protocol';

/** Known once somebody is signed in. It is kept in memory alone, so that no other page finds it. */
let sessionToken: string | null = null;

export function setSessionToken(token: string | null): void {
  sessionToken = token;
}

function sessionFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (sessionToken !== null && !headers.has('authorization')) headers.set(SESSION_TOKEN_HEADER, sessionToken);
  return fetch(input, { ...init, headers });
}

/** Somebody looks at the page, so it finds a host that is back within seconds. */
const LONGEST_WAIT_MS = 2_000;

export const host = createHostClient({
  url: location.origin,
  fetch: sessionFetch,
  longestWaitMs: LONGEST_WAIT_MS,
});

/** A client for one request with a key that somebody typed. The key is not kept. */
export const hostWithKey = (key: string) => createHostClient({ url: location.origin, key, retries: 0 });
