/** Whether an append whose answer was lost took place: only the log can tell. */
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { type Batch, endsRun } from '../core/compose.ts';

/** An append whose answer was lost: written under a lease that the node held, or taking the lease with it. */
export interface LostAppend {
  readonly runId: RunId;
  readonly batch: Batch;
  readonly owner: string;
  readonly fence: number | null;
}

/** The run's fence when exactly these rows stand in the log, written by this node; else null. */
export async function findAppend(log: EventLog, { runId, batch, owner, fence }: LostAppend): Promise<number | null> {
  const head = await log.head(runId);
  if (head === null || head.seq < batch.base) return null;
  const isWriter = fence === null ? head.owner === owner : head.fence === fence;
  // A batch that gave the lease back asked for no effects: the same rows say the same, whichever node wrote them.
  if (!isWriter && batch.rest === undefined && !endsRun(batch)) return null;
  const there = await log.read({ runId, after: batch.base - 1, limit: batch.rows.length });
  const isSame = batch.rows.every((row, i) => {
    const stored = there[i];
    return stored?.type === row.type && stored.payload === row.payload && stored.at === row.at;
  });
  return isSame ? head.fence : null;
}
