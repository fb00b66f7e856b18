/** What is left of purged runs. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { PurgedRun, RunFork } from '../ports/event-log.ts';
import { forkOf } from '../run-columns.ts';
import type { Queries } from './database.ts';

type Columns = [
  tenant: string,
  contextId: ContextId,
  originRunId: RunId,
  parentRunId: RunId | null,
  sourceRunId: RunId | null,
  fromSeq: number | null,
  mode: RunFork['mode'] | null,
  purgedAt: number,
  seq: number,
  hash: string,
];

export async function purgedRun(queries: Queries, runId: RunId): Promise<PurgedRun | null> {
  const [found] = await queries.rows<Columns>(
    `SELECT tenant, context, origin, parent, fork_source, fork_seq, fork_mode, purged_at, seq, hash
       FROM cairn.purged_runs WHERE id = $1::text`,
    [runId],
  );
  if (found === undefined) return null;
  const [tenant, contextId, originRunId, parentRunId, sourceRunId, fromSeq, mode, purgedAt, seq, hash] = found;
  const fork = forkOf(sourceRunId, fromSeq, mode);
  return { runId, tenant, contextId, originRunId, parentRunId, fork, purgedAt, seq, hash };
}
