/** What the list does not tell of a run, read for the rows in view alone. */
import type { RunSnapshot } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { isOver } from './run-facts.ts';

/** How often a run that goes on is read again while its row is in view. */
const READ_EVERY_MS = 3_000;

/** The snapshot of a run; undefined until it is read. An ended run is read once. */
export function useRunDetails(run: RunSnapshot, isResting: boolean): RunSnapshot | undefined {
  const over = isOver(run);
  const { data } = useQuery({
    // A run that has ended since is read once more.
    queryKey: ['run', run.runId, over],
    queryFn: ({ signal }) => host.runs.get(run.runId, { signal }),
    // Rows that only fly past are not read.
    enabled: isResting,
    staleTime: over ? Number.POSITIVE_INFINITY : READ_EVERY_MS,
    refetchInterval: over ? false : READ_EVERY_MS,
    gcTime: 60_000,
    placeholderData: (before) => (before?.runId === run.runId ? before : undefined),
  });
  return data;
}
