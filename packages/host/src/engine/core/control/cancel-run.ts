/**
 * What the cancellation of a run closes before the run ends: its open questions, and its child runs. Runs under the first
 * version of the rules end at once, and their children after them.
 */
import { isClientCall } from '@cairn/protocol';
import { hasRulesOf } from '../engine-version.ts';
import { canceledDraft } from '../interrupts.ts';
import type { Draft, RunState } from '../state.ts';

/** How long a cancelled run waits for its children to end. They are told at once, and so are the runs below them. */
const CANCEL_DEADLINE_MS = 4_000;

/** Sets the deadline of a cancelled run. Call it once its request is folded. */
export function startDeadline(state: RunState, seq: number, at: number): void {
  if (!hasRulesOf(2, state.view)) return;
  const fireAt = at + CANCEL_DEADLINE_MS;
  state.timers.cancel = { timerId: 'cancel', purpose: 'cancel-deadline', fireAt, setSeq: seq };
}

/** Whether a child run that will end on account of this cancellation has not ended yet. */
export function awaitsChildren({ children, cancel, view }: RunState): boolean {
  if (cancel === null || cancel.isOverdue === true || !hasRulesOf(2, view)) return false;
  for (const runId in children) {
    const { isStarted, isDetached } = children[runId as keyof typeof children] ?? {};
    if (isStarted === true && isDetached !== true) return true;
  }
  return false;
}

/** Closes the questions of a node that ends without their answers. The drivers of agents close those to their clients. */
export function closedQuestions(state: RunState, nodeId: string, { seq, by }: Stopping): readonly Draft[] {
  if (!hasRulesOf(2, state.view)) return [];
  const open = Object.values(state.view.interrupts).filter((one) => one.nodeId === nodeId && !isClientCall(one));
  return open.map(({ interruptId }) =>
    canceledDraft(state, { nodeId, interruptId, at: state.now, by: by ?? undefined, cause: seq }),
  );
}

/** The row that stops the run, and the principal who asked for it. */
export interface Stopping {
  readonly seq: number;
  readonly by?: string | null;
}
