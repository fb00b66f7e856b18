/** The status of a run in the task view, and what it waits for. */
import type { TaskStatus } from '../events/cairn.ts';
import type { JsonObject } from '../json.ts';
import type { RunView } from './run-view.ts';
import { statusOf } from './status.ts';
import { pendingOf } from './task-questions.ts';

/** Has metadata while the task waits. */
type StatusFace = { readonly kind: 'task-status'; readonly status: TaskStatus; readonly metadata?: JsonObject };

/** What a task whose nodes wait for people waits for; null if none does. */
export function questionStatus({ signIns, waits }: Pick<RunView, 'signIns' | 'waits'>): TaskStatus | null {
  if (signIns > 0) return 'waiting-auth';
  return statusOf(waits) === 'running' ? null : 'waiting-input';
}

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

/** A new holder goes on with the work of one that was lost. The rows of one take-over have one time, and one status. */
export function noteRestart(view: RunView, { recoveries = 0, routes }: Repeated, seq: number): void {
  if (recoveries < 1 || routes !== undefined || view.taskStatus !== 'working') return;
  if (view.restartedAt === view.lastAt) return;
  view.restartedAt = view.lastAt;
  view.taskStatusSeq = seq;
}

/** A request, which says how many holders in a row were lost during its call. */
interface Repeated {
  readonly recoveries?: number | undefined;
  readonly routes?: string | undefined;
}

/** The status after a take-over; null for every other request. */
export const restartFace = (view: RunView, { recoveries = 0 }: Repeated, seq: number): StatusFace | null =>
  recoveries < 1 || view.taskStatusSeq !== seq
    ? null
    : { ...statusFace(view), metadata: { reason: 'host_restarted', attempt: recoveries + 1 } };
