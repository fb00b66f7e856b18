/** The cache of answers. */
import { QueryClient } from '@tanstack/react-query';

/** The host may be on this very machine, which a browser without a network reaches as well. */
const networkMode = 'always';

export const createQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      // The client itself repeats what may help.
      queries: { retry: false, refetchOnWindowFocus: true, staleTime: 1_000, networkMode },
      mutations: { networkMode },
    },
  });
