/** The cache of answers. */
import { QueryClient } from '@tanstack/react-query';

export const createQueries = (): QueryClient =>
  new QueryClient({
    // The client itself repeats what may help.
    defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true, staleTime: 1_000 } },
  });
