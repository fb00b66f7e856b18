/** Checks the log for an append whose response was lost. */
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { NewRow, Row } from '../../log/ports/rows.ts';
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
  for (let seen = 0; seen < batch.rows.length; ) {
    const page = await log.read({ runId, after: batch.base + seen - 1, limit: batch.rows.length - seen });
    const isSame = page.every((stored, i) => isRow(stored, batch.rows[seen + i]));
    if (page.length === 0 || !isSame) return null;
    seen += page.length;
  }
  return head.fence;
}

const isRow = (stored: Row, row: NewRow | undefined): boolean =>
  stored.type === row?.type && stored.payload === row.payload && stored.at === row.at;
