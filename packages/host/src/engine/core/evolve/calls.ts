/** Folds the rows that ask for a call, and those that bring its result. */
import type { EventOf, RunId } from '@cairn/protocol';
import type { OpenCall, RunState } from '../state.ts';

/** One call for each visit of a node; its retries are attempts of the same call. Unique in its run. */
export const callIdOf = (nodeId: string, visit: number): string => `${nodeId}#${visit}`;

/** Whether a driver keeps a state of the node: then it looks at the node's rows itself. */
export const isDriven = (state: RunState, nodeId: string): boolean => state.inner[nodeId] !== undefined;

export function stepRequested(state: RunState, event: EventOf<'cairn.step.requested'>): void {
  const { nodeId, payload } = event;
  const active = nodeId === undefined ? undefined : state.active[nodeId];
  if (nodeId === undefined || active === undefined) return;
  const { callId, attempt, step, safety, recoveries = 0, childRunId, harvest = [] } = payload;
  if (isDriven(state, nodeId)) {
    dropOfCall(state, callId);
  } else {
    dropResults(state, nodeId);
    active.callAttempts = attempt;
    active.callId = callId;
  }
  // Asked for again it is no other child, and its end may be known already.
  if (childRunId !== undefined && attempt === 1) {
    state.childCount += 1;
    state.children[childRunId] = { runId: childRunId, nodeId, harvest };
  }
  openCall(state, {
    callId,
    nodeId,
    step,
    safety,
    attempt,
    requestedSeq: event.seq,
    requestedAt: event.at,
    recoveries,
  });
}

/** A row of a driven node asks for a call. */
export function openDriven(state: RunState, call: OpenCall): void {
  dropOfCall(state, call.callId);
  openCall(state, call);
}

function openCall(state: RunState, call: OpenCall): void {
  closeCall(state, call.callId);
  state.awaitedCalls += 1;
  state.calls[call.callId] = call;
}

export function closeCall(state: RunState, callId: string): void {
  const call = state.calls[callId];
  if (call === undefined) return;
  if (call.asked === undefined) state.awaitedCalls -= 1;
  delete state.calls[callId];
}

/** A result counts once, for the attempt that is open: what an abandoned attempt sends later changes nothing. */
export function stepReturned(state: RunState, event: EventOf<'cairn.step.returned'>): void {
  const { callId, attempt, childRunId, outcome, error } = event.payload;
  if (childRunId !== undefined) forgetChild(state, childRunId);
  const call = state.calls[callId];
  if (call === undefined || call.attempt !== attempt) return;
  if (isDriven(state, call.nodeId)) {
    closeCall(state, callId);
    dropOfCall(state, callId);
    return;
  }
  if (call.asked !== undefined) return;
  closeCall(state, callId);
  const { nodeId } = call;
  if (error === undefined)
    state.pending.push({ kind: 'step-returned', nodeId, seq: event.seq, outcome: outcome ?? null });
  else state.pending.push({ kind: 'node-error', nodeId, seq: event.seq, error });
}

/** A row of a driven node brings a result. */
export function closeDriven(state: RunState, callId: string, attempt: number): void {
  if (state.calls[callId]?.attempt !== attempt) return;
  closeCall(state, callId);
  dropOfCall(state, callId);
}

function forgetChild(state: RunState, child: RunId): void {
  delete state.children[child];
  if (state.orphans.length > 0) state.orphans = state.orphans.filter((orphan) => orphan !== child);
}

export const callsOf = (state: RunState, nodeId: string): OpenCall[] =>
  Object.values(state.calls).filter((call) => call.nodeId === nodeId);

/** Facts about a driven node's call that was asked for again, or is over, count no more. */
function dropOfCall(state: RunState, callId: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) => {
    if (fact.kind === 'cut-short') return fact.call.callId !== callId;
    return fact.kind !== 'recovered' || fact.callId !== callId;
  });
}

/** The results of a wait or a call that is over count no more; a time limit of the node that has passed still does. */
export function dropResults(state: RunState, nodeId: string, timerId?: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) =>
    fact.kind === 'timer' ? fact.timer.timerId !== timerId : fact.nodeId !== nodeId,
  );
}
