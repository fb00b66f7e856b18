/** The other hosts of the configuration. They change only when the host starts anew. */
import { queryOptions } from '@tanstack/react-query';
import { host } from '../app/host.ts';

export const peersQuery = queryOptions({
  queryKey: ['peers'],
  queryFn: ({ signal }) => host.peers.list({ signal }),
  staleTime: 30_000,
});
