/**
 * When the task view says that a run waits for people: only while nothing else of it can work. Runs under the first version
 * of the rules say so as soon as they ask.
 */
import { questionStatus, type RunView, type TaskStatus } from '@cairn/protocol';
import { hasRulesOf } from './engine-version.ts';
import type { RunState } from './state.ts';

const defers = (view: Readonly<RunView>): boolean => hasRulesOf(2, view);

/** Whether something of the run goes on while the node waits for an answer: a call, a node that may start, a timer. */
function isAtWork(state: Readonly<RunState>, nodeId?: string): boolean {
  if (state.pending.length > 0) return true;
  for (const call of state.calls.values()) {
    // A question that an agent above may answer is still a question.
    if (call.asked === undefined && call.routes === undefined) return true;
  }
  for (const timerId in state.timers) {
    const purpose = state.timers[timerId]?.purpose;
    if (purpose === 'delay' || purpose === 'retry') return true;
  }
  return state.ready.some((entry) => entry.nodeId !== nodeId && state.active[entry.nodeId] === undefined);
}

/** Whether a question of the node leaves the status of the task as it is, for now. */
export const isDeferred = (state: Readonly<RunState>, nodeId: string, isFollowed: boolean): boolean =>
  defers(state.view) && (isFollowed || isAtWork(state, nodeId));

/** The status that the task view lacks, once nothing follows from the state of a run; null for most. */
export function dueStatus(state: Readonly<RunState>): TaskStatus | null {
  const waiting = questionStatus(state.view);
  if (waiting === null || !defers(state.view)) return null;
  const due = isAtWork(state) ? 'working' : waiting;
  return due === state.view.taskStatus ? null : due;
}
