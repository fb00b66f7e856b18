/**
 * Finds calls of peers that ended before their tasks: the run was cancelled, the node timed out, or the call failed here.
 * The log says so, also for calls that waited for a person and were in no process.
 */
import { isJsonObject, type PayloadOf, type RunId } from '@cairn/protocol';
import { A2A_SCOPE } from '../../../agents/tools/tool-registry.ts';
import type { EventLog } from '../../../log/ports/event-log.ts';
import type { Row } from '../../../log/ports/rows.ts';
import type { CallPlace } from '../../../telemetry/call-traces.ts';

/** A task that no run here waits for any more. */
export interface LeftTask {
  readonly peer: string;
  readonly tenant: string;
  readonly taskId: string;
  /** The call that left it. Hosts of earlier versions did not keep it. */
  readonly call?: CallPlace | undefined;
}

/** The task has ended by itself. */
const endsOfTasks: ReadonlySet<string> = new Set(['remote_task_failed', 'remote_task_canceled', 'rejected_by_remote']);

/** Every tool call of the host passes here, so the payload is only searched. */
const ofPeer = `"toolId":"${A2A_SCOPE}`;

export const END_OF_CALL = 'agent.toolReturned';

export const isEndOfCall = ({ type, payload }: Pick<Row, 'type' | 'payload'>): boolean =>
  type === END_OF_CALL && payload.includes(ofPeer);

/** The task that the end of a call leaves behind; null if it leaves none. */
export async function leftTask(log: Pick<EventLog, 'head' | 'read'>, row: Row): Promise<LeftTask | null> {
  const { runId, cause, seq } = row;
  const { toolId, callId, error }: PayloadOf<typeof END_OF_CALL> = JSON.parse(row.payload);
  if (error === undefined || endsOfTasks.has(error.code)) return null;
  const head = await log.head(runId);
  const ownAfter = head === null ? null : lastForeignRow(head.record);
  if (head === null || ownAfter === null || seq <= ownAfter) return null;
  // The cause of the end is the row that called.
  const requestedSeq = typeof cause === 'number' ? cause : -1;
  const after = Math.max(ownAfter, requestedSeq);
  const taskId = await recordedTask(log, runId, { callId, after, before: seq });
  const peer = (toolId ?? '').slice(A2A_SCOPE.length);
  return taskId === null ? null : { peer, tenant: head.record.tenant, taskId, call: { runId, requestedSeq } };
}

type RunRecord = NonNullable<Awaited<ReturnType<EventLog['head']>>>['record'];

/**
 * The last row that is not the run's own. Null for a replay and for an imported run, which contact no peer. A branch shares
 * rows with its source, and with them tasks that are still those of the source.
 */
function lastForeignRow({ fork, importedAt }: Pick<RunRecord, 'fork' | 'importedAt'>): number | null {
  if (importedAt !== null) return null;
  if (fork === null) return -1;
  return fork.mode === 'replay' ? null : fork.fromSeq - 1;
}

const PAGE = 500;

interface Stretch {
  readonly callId: string;
  readonly after: number;
  readonly before: number;
}

/** The task that the call recorded last. */
async function recordedTask(
  log: Pick<EventLog, 'read'>,
  runId: RunId,
  { callId, after: first, before }: Stretch,
): Promise<string | null> {
  let found: string | null = null;
  for (let after = first; after < before; ) {
    const rows = await log.read({ runId, after, limit: PAGE });
    for (const row of rows) {
      if (row.type === 'cairn.step.returned') found = taskIn(row, callId) ?? found;
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  return found;
}

function taskIn({ payload }: Row, callId: string): string | null {
  const { of, outcome }: PayloadOf<'cairn.step.returned'> = JSON.parse(payload);
  return of === callId && isJsonObject(outcome) && typeof outcome.taskId === 'string' ? outcome.taskId : null;
}
