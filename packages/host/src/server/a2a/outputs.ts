/** The outputs of a workflow, as an artifact of its task. What an agent says is there as text already. */
import { foldEventOf, type RunId } from '@cairn/protocol';
import { AGENT_RUN } from '../../agents/agent-run.ts';
import { foldTask } from '../../bridges/a2a/fold-task.ts';
import type { A2aUpdate } from '../../bridges/a2a/update.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { FollowedTask } from './followed-task.ts';

/** The id and the name of the artifact. */
const OUTPUTS = 'outputs';

/** Folds the outputs of a completed task in, once, and returns the update that shows them. */
export async function takeOutputs(
  log: EventLog,
  { runId, contextId, workflowId }: Pick<RunRecord, 'runId' | 'contextId' | 'workflowId'>,
  followed: FollowedTask,
): Promise<readonly A2aUpdate[]> {
  const { fold, phase } = followed;
  const { task, artifacts } = fold;
  if (phase !== 'over' || task?.status.state !== 'completed' || artifacts.has(OUTPUTS)) return [];
  if (workflowId.startsWith(AGENT_RUN)) return [];
  const last = followed.end ?? (await lastRow(log, runId));
  const event = last === null ? null : foldEventOf(last);
  if (event?.type !== 'run.completed') return [];
  const { outputs = {} } = event.payload;
  if (Object.keys(outputs).length === 0) return [];
  const artifact = { artifactId: OUTPUTS, name: OUTPUTS, parts: [{ data: outputs }] };
  const update = {
    type: 'artifact',
    taskId: runId,
    contextId,
    artifact,
    append: false,
    lastChunk: true,
    storedAt: null,
  } as const;
  foldTask(fold, update);
  return [update];
}

/** The last row of a run; null if there is no such run. */
export async function lastRow(log: EventLog, runId: RunId): Promise<Row | null> {
  const head = await log.head(runId);
  if (head === null) return null;
  const [last] = await log.read({ runId, after: head.seq - 1, limit: 1, isForFrames: true });
  return last ?? null;
}
