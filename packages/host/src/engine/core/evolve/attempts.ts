/** Ends an attempt of a node: because the node ended, because it is retried, or because of an immediate pause. */
import type { RunId } from '@cairn/protocol';
import { endRoutesOf } from '../../coordination/route-state.ts';
import { activeNode } from '../node-of.ts';
import type { ActiveNode, Pending, RunState } from '../state.ts';
import { callsOf, closeCall, isDriven } from './calls.ts';

/** Removes the attempt's timers, open calls and pending facts. */
export function endAttempt(state: RunState, nodeId: string, active: ActiveNode): void {
  for (const timerId of active.timers) delete state.timers[timerId];
  if (isDriven(state, nodeId)) {
    for (const { callId } of callsOf(state, nodeId)) closeCall(state, callId);
    for (const child of Object.values(state.children)) if (child.nodeId === nodeId) orphan(state, child.runId);
    delete state.inner[nodeId];
  } else if (active.callId !== null) {
    closeCall(state, active.callId);
  }
  if (state.routes !== undefined) endRoutesOf(state, nodeId);
  dropFacts(state, nodeId);
}

function orphan(state: RunState, child: RunId): void {
  if (!state.orphans.includes(child)) state.orphans.push(child);
}

/** Ends the attempt of a node that has a call or a delay in progress. Leaves other nodes unchanged. */
export function cutShort(state: RunState, nodeId: string, seq: number): void {
  if (isDriven(state, nodeId)) {
    cutCallsShort(state, nodeId, seq);
    return;
  }
  const active = activeNode(state, nodeId);
  const call = active.callId === null ? undefined : state.calls.get(active.callId);
  const isCalling = call !== undefined && call.asked === undefined;
  if (!isCalling && !active.timers.some((timerId) => state.timers[timerId]?.purpose === 'delay')) return;
  endAttempt(state, nodeId, active);
  active.timers = [];
  active.abandoned += 1;
  state.pending.push({ kind: 'abandoned', nodeId, seq });
}

/** Closes only the calls in progress of a driven node. Its completed work is recorded and is not repeated. */
function cutCallsShort(state: RunState, nodeId: string, seq: number): void {
  for (const call of callsOf(state, nodeId)) {
    if (call.asked !== undefined || call.routes !== undefined) continue;
    closeCall(state, call.callId);
    state.pending.push({ kind: 'cut-short', nodeId, seq, call });
  }
}

/** Drops the node's pending facts. */
export function dropFacts(state: RunState, nodeId: string): void {
  const { pending } = state;
  if (pending.length === 0) return;
  const [first] = pending;
  if (pending.length === 1 && first !== undefined && nodeOfFact(first) === nodeId) pending.length = 0;
  else state.pending = pending.filter((fact) => nodeOfFact(fact) !== nodeId);
}

const nodeOfFact = (fact: Pending): string | undefined => (fact.kind === 'timer' ? fact.timer.nodeId : fact.nodeId);
