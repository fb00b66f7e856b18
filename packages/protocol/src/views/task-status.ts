/** The status of a run in the task view, with what it waits for. */
import type { TaskStatus } from '../events/cairn.ts';
import type { JsonObject } from '../json.ts';
import type { RunView } from './run-view.ts';
import { pendingOf } from './task-questions.ts';

/** Its metadata is there while the task waits. */
type StatusFace = { readonly kind: 'task-status'; readonly status: TaskStatus; readonly metadata?: JsonObject };

/** As it is now; `suspendedOn` is a question that is about to be asked. */
export function statusFace(view: RunView, suspendedOn?: string): StatusFace {
  const status = view.taskStatus ?? 'working';
  if (status !== 'waiting-input' && status !== 'waiting-auth') return { kind: 'task-status', status };
  const pending = pendingOf(view);
  if (suspendedOn !== undefined && pending.every(({ id }) => id !== suspendedOn)) {
    pending.push({ type: 'input', id: suspendedOn });
  }
  return { kind: 'task-status', status, metadata: { blockedBy: 'user', pending } };
}
