/** Folds the rows that request a call and the rows that record its result. */
import { type EventOf, payloadId, type RunId } from '@cairn/protocol';
import type { OpenCall, RunState } from '../state.ts';

/** Each visit of a node has one call; retries are attempts of the same call. The id is unique within the context. */
export const callIdOf = ({ view }: Readonly<RunState>, nodeId: string, visit: number): string =>
  payloadId(view.idToken, 'call', `${nodeId}#${visit}`);

/** Returns true if a driver keeps state for the node. The driver then folds the node's rows itself. */
export const isDriven = (state: RunState, nodeId: string): boolean => state.inner[nodeId] !== undefined;

export function stepRequested(state: RunState, event: EventOf<'cairn.step.requested'>): void {
  const { nodeId, payload } = event;
  const active = nodeId === undefined ? undefined : state.active[nodeId];
  if (nodeId === undefined || active === undefined) return;
  const { callId, attempt, step, safety, recoveries = 0, childRunId, harvest = [], detached } = payload;
  if (isDriven(state, nodeId)) {
    dropOfCall(state, callId);
  } else {
    dropResults(state, nodeId);
    active.callAttempts = attempt;
    active.callId = callId;
  }
  // A repeated request is for the same child, whose end may already be recorded.
  if (childRunId !== undefined && attempt === 1) {
    state.childCount += 1;
    const child = { runId: childRunId, nodeId, harvest };
    state.children[childRunId] = detached === true ? { ...child, isDetached: true } : child;
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

/** Opens the call that a row of a driven node requests. */
export function openDriven(state: RunState, call: OpenCall): void {
  dropOfCall(state, call.callId);
  openCall(state, call);
}

export function openCall(state: RunState, call: OpenCall): void {
  closeCall(state, call.callId);
  state.awaitedCalls += 1;
  state.calls.set(call.callId, call);
}

export function closeCall(state: RunState, callId: string): void {
  const call = state.calls.get(callId);
  if (call === undefined) return;
  if (call.asked === undefined) state.awaitedCalls -= 1;
  state.calls.delete(callId);
}

/** Accepts a result once, for the open attempt. Late results of abandoned attempts are ignored. */
export function stepReturned(state: RunState, event: EventOf<'cairn.step.returned'>): void {
  const { callId, attempt, childRunId, outcome, error } = event.payload;
  if (childRunId !== undefined) forgetChild(state, childRunId);
  const call = state.calls.get(callId);
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

/** Closes the call whose result a row of a driven node records. */
export function closeDriven(state: RunState, callId: string, attempt: number): void {
  if (state.calls.get(callId)?.attempt !== attempt) return;
  closeCall(state, callId);
  dropOfCall(state, callId);
}

/** Its end may have been recorded before. */
export function childStarted({ children }: RunState, childRunId: RunId): void {
  const child = Object.hasOwn(children, childRunId) ? children[childRunId] : undefined;
  if (child !== undefined) child.isStarted = true;
}

function forgetChild(state: RunState, child: RunId): void {
  delete state.children[child];
  if (state.orphans.length > 0) state.orphans = state.orphans.filter((orphan) => orphan !== child);
}

export const callsOf = (state: RunState, nodeId: string): OpenCall[] =>
  [...state.calls.values()].filter((call) => call.nodeId === nodeId);

/** Drops pending facts about a driven node's call that was requested again or has ended. */
function dropOfCall(state: RunState, callId: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) => {
    if (fact.kind === 'cut-short') return fact.call.callId !== callId;
    return fact.kind !== 'recovered' || fact.callId !== callId;
  });
}

/** Drops pending results of a finished wait or call. An expired node timeout stays pending. */
export function dropResults(state: RunState, nodeId: string, timerId?: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) =>
    fact.kind === 'timer' ? fact.timer.timerId !== timerId : fact.nodeId !== nodeId,
  );
}
