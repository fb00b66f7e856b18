/** The cache of answers. Errors of a session that is over lead to the sign-in, wherever they happen. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut, sessionQuery } from './session.ts';

export function createQueries(): QueryClient {
  const onError = (error: unknown): void => {
    const { queryKey } = sessionQuery;
    if (isSignedOut(error) && queries.getQueryState(queryKey)?.status === 'success') {
      void queries.resetQueries({ queryKey });
    }
  };
  const queries: QueryClient = new QueryClient({
    // The client itself repeats what may help.
    defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true, staleTime: 1_000 } },
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
  });
  return queries;
}
