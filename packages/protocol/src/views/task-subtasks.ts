/** Task faces of child runs in the log of their parent: requested, started, ended. */
import type { EventOf } from '../events/event.ts';
import type { JsonObject } from '../json.ts';
import { own } from './dictionary.ts';
import type { RunView } from './run-view.ts';
import { statusFace } from './task-status.ts';

type SubtaskEvent = EventOf<'cairn.step.requested'> | EventOf<'cairn.step.returned'> | EventOf<'node.dispatched'>;

/**
 * The request comes before every row of the child, so it announces the subtask. The parent waits from the row that
 * records the child's start to the row that records its end.
 */
export function subtaskFace(view: RunView, event: SubtaskEvent): JsonObject | null {
  switch (event.type) {
    case 'cairn.step.requested':
      return created(view, event);
    case 'cairn.step.returned':
      return event.payload.error === undefined ? changed(view, event) : refused(event);
    case 'node.dispatched':
      return changed(view, event);
  }
}

const changed = (view: RunView, { seq }: SubtaskEvent): JsonObject | null =>
  view.taskStatusSeq === seq ? statusFace(view) : null;

/** A repeated request is for the same child. */
function created(view: RunView, { nodeId, payload }: EventOf<'cairn.step.requested'>): JsonObject | null {
  const { childRunId, attempt } = payload;
  if (childRunId === undefined || attempt !== 1) return null;
  const id = nodeId ?? payload.nodeId;
  const node = own(view.nodeStates, id);
  const toolCallId = node?.toolCallId ?? null;
  // Runs from before the request named the workflow say in another row which worker is next.
  const workflowId = payload.childWorkflowId ?? (node?.typeId === 'core.dispatch' ? view.nextWorker : null);
  return {
    kind: 'subtask-created',
    subtaskId: childRunId,
    prompt: payload.prompt ?? `Run the workflow ${workflowId ?? `of the node ${id}`}.`,
    ...(toolCallId !== null && { toolCallId }),
  };
}

/** The child never started. */
function refused({ payload: { childRunId, error } }: EventOf<'cairn.step.returned'>): JsonObject | null {
  if (childRunId === undefined || error === undefined) return null;
  const { code, message, retryable = false } = error;
  return {
    kind: 'error',
    code: 'subtask_failed',
    message,
    retryable,
    scope: 'subtask',
    refId: childRunId,
    details: { code },
  };
}
