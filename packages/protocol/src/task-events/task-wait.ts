/** Whether a task waits, and has said all that it waits for. */
import type { TaskEvent } from './task-event.ts';

/** What the events of one task said about its wait so far. */
export interface TaskWait {
  /** Its open questions and sign-ins, by id. */
  readonly asked: Set<string>;
  /** What the last status waits for; null if that does not wait. */
  pending: readonly string[] | null;
}

export const newTaskWait = (): TaskWait => ({ asked: new Set(), pending: null });

/**
 * Folds in an event of the task, and returns whether the task waits and each of its questions was seen. A held decision and
 * a conversation say that they wait before they say what they ask.
 */
export function isWaitSaid(wait: TaskWait, event: TaskEvent): boolean {
  switch (event.kind) {
    case 'task-status': {
      const { pending = [] } = event.metadata ?? {};
      const ids = pending.flatMap(({ type, id }) => (type === 'subtask' ? [] : [id]));
      wait.pending = event.status.startsWith('waiting-') ? ids : null;
      break;
    }
    case 'input-required':
      wait.asked.add(event.inputId);
      break;
    case 'auth-required':
      wait.asked.add(event.authId);
      break;
    case 'input-received':
      wait.asked.delete(event.inputId);
      return false;
    case 'auth-completed':
      wait.asked.delete(event.authId);
      return false;
    default:
      return false;
  }
  return wait.pending?.every((id) => wait.asked.has(id)) === true;
}
