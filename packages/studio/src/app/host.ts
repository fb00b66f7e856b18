/** The client of this page. It acts with the session of the page, and proves with its token that the page is ours. */
import { createClient as createHostClient } from '@cairn/client/context';
import { SESSION_TOKEN_HEADER } from '@cairn/protocol';

/** Known once somebody is signed in. It is kept in memory alone, so that no other page finds it. */
let sessionToken: string | null = null;

export function setSessionToken(token: string | null): void {
  sessionToken = token;
}

let tellSignedOut = (): void => undefined;

/** Called whenever the host does not know the session of this page: it is over, or was ended in another tab. */
export function onSignedOut(listener: () => void): () => void {
  tellSignedOut = listener;
  return () => {
    tellSignedOut = () => undefined;
  };
}

async function sessionFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const hasOwnKey = headers.has('authorization');
  if (sessionToken !== null && !hasOwnKey) headers.set(SESSION_TOKEN_HEADER, sessionToken);
  const response = await fetch(input, { ...init, headers });
  if (response.status === 401 && !hasOwnKey) tellSignedOut();
  return response;
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
