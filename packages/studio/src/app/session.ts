/** The session of the page: who is signed in, kept alive while the page is open. */
import { type BrowserSession, isCairnError } from '@cairn/protocol';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { host, onSignedOut, setSessionToken } from './host.ts';

/** Well before its end, so that one failed attempt does no harm. */
const RENEW_EVERY_MS = 15 * 60_000;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => taken(await host.session.get({ signal })),
  retry: false,
  staleTime: Number.POSITIVE_INFINITY,
});

export function taken(session: BrowserSession): BrowserSession {
  setSessionToken(session.token ?? null);
  return session;
}

/** Whether an error says that nobody is signed in, or not any more. */
export const isSignedOut = (error: unknown): boolean =>
  isCairnError(error, 'unauthenticated') || isCairnError(error, 'key_expired');

export function useSession() {
  const queries = useQueryClient();
  const session = useQuery(sessionQuery);
  const isOpen = session.data !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    // Whatever asked, a query, a stream or a form: the session is read again, and its absence leads to the sign-in.
    return onSignedOut(() => void queries.resetQueries({ queryKey: sessionQuery.queryKey }));
  }, [isOpen, queries]);
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => {
      host.session.open().then(
        (renewed) => queries.setQueryData(sessionQuery.queryKey, taken(renewed)),
        () => undefined,
      );
    }, RENEW_EVERY_MS);
    return () => clearInterval(timer);
  }, [isOpen, queries]);
  return session;
}

/** Whether the credential of the session has a scope. A button without it is not shown. */
export function useScope(scope: string): boolean {
  return useQuery(sessionQuery).data?.scopes.includes(scope) ?? false;
}
