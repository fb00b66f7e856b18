/** An open question with all that is known of it. */
import type { InboxEntry, OpenInterrupt } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';

export interface FullQuestion {
  readonly entry: InboxEntry;
  /** Why this person may not answer. */
  readonly refusal: OpenInterrupt['refusal'];
  /** Why the data that the inbox left out is not there. */
  readonly error: Error | null;
}

/** The question with all of its data, which the inbox leaves out when it is large, and whether this person may answer. */
export function useFull(entry: InboxEntry): FullQuestion {
  const { data, error } = useQuery({
    queryKey: ['interrupts', entry.runId, entry.interruptId, entry.quorum?.votes.length ?? 0],
    queryFn: ({ signal }) => host.interrupts.ofRun(entry.runId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const open = data?.find(({ interruptId }) => interruptId === entry.interruptId);
  const whole: InboxEntry = {
    ...entry,
    // The inbox has no comments of voters.
    ...(open?.quorum !== undefined && { quorum: open.quorum }),
    ...(open !== undefined &&
      entry.isCut === true && {
        data: open.data,
        ...(open.resumeSchema !== undefined && { resumeSchema: open.resumeSchema }),
      }),
  };
  return { entry: whole, refusal: open?.refusal, error: entry.isCut === true ? error : null };
}
