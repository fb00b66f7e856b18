/** Checks the log for an append whose response was lost. */
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { type Batch, endsRun } from '../core/compose.ts';

/** An append whose response was lost. It was written under a held lease, or took the lease itself. */
export interface LostAppend {
  readonly runId: RunId;
  readonly batch: Batch;
  readonly owner: string;
  readonly fence: number | null;
}

/** Returns the run's fence if the log holds exactly these rows, written by this node; otherwise null. */
export async function findAppend(log: EventLog, { runId, batch, owner, fence }: LostAppend): Promise<number | null> {
  const head = await log.head(runId);
  if (head === null || head.seq < batch.base) return null;
  const isWriter = fence === null ? head.owner === owner : head.fence === fence;
  // A batch that released the lease requested no effects, so identical rows are equivalent, whichever node wrote them.
  if (!isWriter && batch.rest === undefined && !endsRun(batch)) return null;
  const there = await log.read({ runId, after: batch.base - 1, limit: batch.rows.length });
  const isSame = batch.rows.every((row, i) => {
    const stored = there[i];
    return stored?.type === row.type && stored.payload === row.payload && stored.at === row.at;
  });
  return isSame ? head.fence : null;
}
