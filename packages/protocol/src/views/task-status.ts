/** The status of a run in the task view, and what it waits for. */
import type { TaskStatus } from '../events/cairn.ts';
import type { JsonObject } from '../json.ts';
import type { RunView } from './run-view.ts';
import { pendingOf } from './task-questions.ts';

/** Has metadata while the task waits. */
type StatusFace = { readonly kind: 'task-status'; readonly status: TaskStatus; readonly metadata?: JsonObject };

/** The current status. `suspendedOn` is an interrupt that is about to be requested. */
export function statusFace(view: RunView, suspendedOn?: string): StatusFace {
  const status = view.taskStatus ?? 'working';
  if (!status.startsWith('waiting-')) return { kind: 'task-status', status };
  const pending = pendingOf(view);
  if (suspendedOn !== undefined && pending.every(({ id }) => id !== suspendedOn)) {
    pending.push({ type: 'input', id: suspendedOn });
  }
  // The node that asked has ended, and its question with it.
  if (pending.length === 0) return { kind: 'task-status', status: 'working' };
  const blockedBy = status === 'waiting-subtask' ? pending[0]?.id : undefined;
  return { kind: 'task-status', status, metadata: { blockedBy: blockedBy ?? 'user', pending } };
}
