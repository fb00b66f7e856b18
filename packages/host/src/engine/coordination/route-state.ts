/** Folds the rows that put a question to an agent above, and those that end that. */
import type { EventOf } from '@cairn/protocol';
import { closeCall, openCall } from '../core/evolve/calls.ts';
import type { RunState } from '../core/state.ts';

export function questionRouted(state: RunState, { nodeId, payload }: EventOf<'interrupt.requested'>): void {
  const { interruptId, routedTo } = payload;
  if (routedTo !== 'agent' || interruptId === undefined || nodeId === undefined) return;
  state.routes ??= {};
  state.routes[interruptId] = { nodeId, level: 0, callId: null, verdict: null };
}

/** Returns true if the row puts a question to an agent. */
export function routeRequested(state: RunState, { seq, at, payload }: EventOf<'cairn.step.requested'>): boolean {
  const { routes, nodeId, callId, step, attempt, safety, level = 1, recoveries = 0 } = payload;
  if (routes === undefined) return false;
  const route = state.routes?.[routes];
  if (route === undefined) return true;
  route.level = level;
  route.callId = callId;
  route.verdict = null;
  state.routedTurns = (state.routedTurns ?? 0) + 1;
  openCall(state, { callId, nodeId, step, safety, attempt, requestedSeq: seq, requestedAt: at, recoveries, routes });
  return true;
}

/** Returns true if the row records what an agent gave back. */
export function routeReturned(state: RunState, event: EventOf<'cairn.step.returned'>): boolean {
  const { callId, attempt, outcome = null } = event.payload;
  const call = state.calls.get(callId);
  if (call?.routes === undefined || call.attempt !== attempt) return false;
  closeCall(state, callId);
  const route = state.routes?.[call.routes];
  if (route === undefined) return true;
  route.callId = null;
  const agentId = state.coordinators?.[route.level - 1] ?? '';
  route.verdict = { seq: event.seq, agentId, outcome };
  return true;
}

/** The question was answered, or people are asked from now on. */
export function endRoute(state: RunState, interruptId: string): void {
  const route = state.routes?.[interruptId];
  if (route === undefined) return;
  if (route.callId !== null) closeCall(state, route.callId);
  delete state.routes?.[interruptId];
}

/** The node ended, and its questions with it. */
export function endRoutesOf(state: RunState, nodeId: string): void {
  for (const interruptId in state.routes) {
    if (state.routes[interruptId]?.nodeId === nodeId) endRoute(state, interruptId);
  }
}

/** A branch asks again what was open at its cut. Without a run above it, people are asked. */
export function routesOfBranch(state: RunState, isRoot: boolean): void {
  for (const interruptId in state.routes) {
    const route = state.routes[interruptId];
    if (route === undefined || route.callId === null) continue;
    closeCall(state, route.callId);
    route.callId = null;
    route.level -= 1;
  }
  if (!isRoot) return;
  delete state.coordinators;
  delete state.routes;
}
