/** Folds the interrupts of a run and their answers. */
import { type EventOf, isJsonObject } from '@cairn/protocol';
import type { ActiveNode, OpenCall, RunState } from '../state.ts';
import { callsOf, dropResults, isDriven } from './calls.ts';
import { dropTimer, setTimer } from './timers.ts';

/** `data.customKind` of the interrupt that asks a human about a step with no recorded result. */
export const STEP_INTERRUPTED = 'cairn.step.interrupted';

/** `data.customKind` of the interrupt that asks a human about a call of a branch before it is made. */
export const CALL_PROPOSED = 'cairn.call.proposed';

const aboutCalls: readonly unknown[] = [STEP_INTERRUPTED, CALL_PROPOSED];

export function interruptRequested(state: RunState, event: EventOf<'interrupt.requested'>): void {
  const { interruptId, data, timeoutMs } = event.payload;
  const { nodeId } = event;
  state.interruptCount += 1;
  if (interruptId === undefined) return;
  if (aboutCalls.includes(data.customKind) && isJsonObject(data.payload)) {
    const { callId } = data.payload;
    const call = typeof callId === 'string' ? state.calls.get(callId) : undefined;
    if (call !== undefined) {
      if (call.asked === undefined) state.awaitedCalls -= 1;
      call.asked = interruptId;
    }
  }
  if (timeoutMs === undefined || nodeId === undefined) return;
  setTimer(state, {
    timerId: expiryTimerOf(interruptId),
    purpose: 'interrupt-expiry',
    nodeId,
    interruptId,
    fireAt: event.at + timeoutMs,
    setSeq: event.seq,
  });
}

const expiryTimerOf = (interruptId: string): string => `expiry:${interruptId}`;

export function interruptResolved(state: RunState, event: EventOf<'interrupt.resolved'>): void {
  const { nodeId, seq } = event;
  const active = nodeId === undefined ? undefined : state.active[nodeId];
  if (nodeId === undefined || active === undefined) return;
  const { interruptId, kind = 'custom', resumeValue: value = null, reason, outcome } = event.payload;
  const expiry = expiryTimerOf(interruptId);
  delete state.timers[expiry];
  const driven = isDriven(state, nodeId);
  if (driven) dropTimer(state, expiry);
  else dropResults(state, nodeId, expiry);
  const call = askedCall(state, nodeId, active, interruptId);
  if (call !== undefined) {
    const verdict = isJsonObject(value) ? value : {};
    if (state.fork !== undefined) state.fork.verdicts[call.callId] = verdict.action === 'reuse' ? 'reuse' : 'live';
    state.pending.push({ kind: 'recovered', nodeId, seq, callId: call.callId, verdict });
    return;
  }
  if (driven) return;
  const timedOut = reason === 'timeout';
  // A closed question has no answer. Its node ends with it; if it goes on all the same, nobody has approved anything.
  const isRejected = outcome === 'cancelled' || (kind === 'clarification' && outcome === 'rejected' && !timedOut);
  const answer = { interruptId, kind, value, timedOut, ...(isRejected && { isRejected }) };
  state.pending.push({ kind: 'answered', nodeId, seq, answer });
}

/** Returns the call that this interrupt asks a human about. */
function askedCall(state: RunState, nodeId: string, active: ActiveNode, interruptId: string): OpenCall | undefined {
  if (!isDriven(state, nodeId)) {
    const call = active.callId === null ? undefined : state.calls.get(active.callId);
    return call?.asked === interruptId ? call : undefined;
  }
  return callsOf(state, nodeId).find((call) => call.asked === interruptId);
}
