/** What a run is about, read once: its inputs do not change. */
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { titleOf } from './run-facts.ts';

/** Null until it is read, and for a run that says nothing of itself. */
export function useRunTitle(runId: string): string | null {
  const { data } = useQuery({
    queryKey: ['run-title', runId],
    queryFn: async ({ signal }) => titleOf(await host.runs.get(runId, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? null;
}
