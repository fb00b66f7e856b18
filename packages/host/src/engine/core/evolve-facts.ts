/** Takes into a run's state what happens around its active nodes: steps, timers, interrupts and their answers. */
import type { FoldEvent, Json, JsonObject, RunId } from '@cairn/protocol';
import { type Budget, giveBack, lend, type Spent } from '../family/account.ts';
import type { ActiveNode, OpenCall, Pending, RunError, RunState, Timer } from './state.ts';

/** Takes in what happened around active nodes; other types change nothing here. */
export function foldFact(state: RunState, event: FoldEvent, payload: JsonObject): void {
  switch (event.type) {
    case 'cairn.step.requested':
    case 'cairn.model.requested':
    case 'agent.toolCalled':
      callRequested(state, event, payload);
      break;
    case 'cairn.step.returned':
    case 'cairn.model.returned':
    case 'cairn.model.abandoned':
    case 'agent.toolReturned':
      callReturned(state, event, payload);
      break;
    case 'cairn.budget.granted':
      lend(state.account, payload.childRunId as RunId, payload.budget as unknown as Budget);
      break;
    case 'cairn.budget.returned':
      giveBack(state.account, payload.childRunId as RunId, payload.spent as unknown as Spent);
      break;
    case 'cairn.timer.set':
      setTimer(state, {
        timerId: payload.timerId as string,
        purpose: payload.purpose as Timer['purpose'],
        nodeId: event.nodeId as string,
        fireAt: Date.parse(payload.fireAt as string),
        setSeq: event.seq,
      });
      break;
    case 'cairn.timer.fired':
      timerFired(state, event, payload);
      break;
    case 'interrupt.requested':
      interruptRequested(state, event, payload);
      break;
    case 'interrupt.resolved':
      interruptResolved(state, event, payload);
      break;
  }
}

/** One call for each visit of a node; its retries are attempts of the same call. Unique in its run. */
export const callIdOf = (nodeId: string, visit: number): string => `${nodeId}#${visit}`;

/** Who performs the calls that a row of this type asks for; a step's row names it. */
const performers: Readonly<Record<string, string>> = {
  'cairn.model.requested': 'cairn.model',
  'agent.toolCalled': 'cairn.tool',
};

function callRequested(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const nodeId = event.nodeId as string;
  const active = state.active[nodeId];
  if (active === undefined) return;
  const callId = payload.callId as string;
  if (isDriven(state, nodeId)) {
    dropOfCall(state, callId);
  } else if (event.type === 'cairn.step.requested') {
    dropResults(state, nodeId);
    active.callAttempts = payload.attempt as number;
    active.callId = callId;
  } else {
    return;
  }
  // Asked for again it is no other child, and its end may be known already.
  if (payload.childRunId !== undefined && payload.attempt === 1) {
    state.childCount += 1;
    state.children[payload.childRunId as RunId] = { nodeId, harvest: (payload.harvest ?? []) as string[] };
  }
  closeCall(state, callId);
  state.unsettled += 1;
  state.calls[callId] = {
    callId,
    nodeId,
    step: performers[event.type] ?? (payload.step as string),
    safety: payload.safety as OpenCall['safety'],
    attempt: payload.attempt as number,
    requestedSeq: event.seq,
    requestedAt: event.at,
    recoveries: (payload.recoveries ?? 0) as number,
  };
}

/** Whether a driver keeps a state of the node: then it looks at the node's rows itself. */
const isDriven = (state: RunState, nodeId: string): boolean => state.inner[nodeId] !== undefined;

function closeCall(state: RunState, callId: string): void {
  const call = state.calls[callId];
  if (call === undefined) return;
  if (call.asked === undefined) state.unsettled -= 1;
  delete state.calls[callId];
}

/** A result counts once, for the attempt that is open: what an abandoned attempt sends later changes nothing. */
function callReturned(state: RunState, event: FoldEvent, payload: JsonObject): void {
  if (payload.childRunId !== undefined) forgetChild(state, payload.childRunId as RunId);
  const call = state.calls[payload.callId as string];
  if (call === undefined || call.attempt !== payload.attempt) return;
  if (isDriven(state, call.nodeId)) {
    closeCall(state, call.callId);
    dropOfCall(state, call.callId);
    return;
  }
  if (call.asked !== undefined) return;
  closeCall(state, call.callId);
  const at = { nodeId: call.nodeId, seq: event.seq };
  if (payload.error === undefined)
    state.pending.push({ kind: 'step-returned', ...at, outcome: payload.outcome as Json });
  else state.pending.push({ kind: 'node-error', ...at, error: payload.error as unknown as RunError });
}

function forgetChild(state: RunState, child: RunId): void {
  delete state.children[child];
  if (state.strays.length > 0) state.strays = state.strays.filter((stray) => stray !== child);
}

function stray(state: RunState, child: RunId): void {
  if (!state.strays.includes(child)) state.strays.push(child);
}

/** Of an active node; it ends with the attempt. */
export function setTimer(state: RunState, timer: Timer): void {
  const active = state.active[timer.nodeId as string];
  if (active === undefined) return;
  active.timers.push(timer.timerId);
  state.timers[timer.timerId] = timer;
}

function timerFired(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const timer = state.timers[payload.timerId as string];
  if (timer === undefined) return;
  delete state.timers[timer.timerId];
  // A delay of a driven node is its driver's, which sees the row.
  if (timer.purpose === 'delay' && isDriven(state, timer.nodeId as string)) return;
  state.pending.push({ kind: 'timer', seq: event.seq, timer });
}

/** `data.customKind` of the interrupt that asks a human about a step whose result was never recorded. */
export const STEP_INTERRUPTED = 'cairn.step.interrupted';

function interruptRequested(state: RunState, event: FoldEvent, payload: JsonObject): void {
  state.interruptCount += 1;
  const interruptId = payload.interruptId as string;
  const data = payload.data as JsonObject;
  if (data.customKind === STEP_INTERRUPTED) {
    const call = state.calls[(data.payload as JsonObject).callId as string];
    if (call !== undefined) {
      if (call.asked === undefined) state.unsettled -= 1;
      call.asked = interruptId;
    }
  }
  if (typeof payload.timeoutMs !== 'number') return;
  setTimer(state, {
    timerId: expiryTimerOf(interruptId),
    purpose: 'interrupt-expiry',
    nodeId: event.nodeId as string,
    fireAt: event.at + payload.timeoutMs,
    setSeq: event.seq,
  });
}

const expiryTimerOf = (interruptId: string): string => `expiry:${interruptId}`;

function interruptResolved(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const nodeId = event.nodeId as string;
  const active = state.active[nodeId];
  if (active === undefined) return;
  const interruptId = payload.interruptId as string;
  const expiry = expiryTimerOf(interruptId);
  delete state.timers[expiry];
  const driven = isDriven(state, nodeId);
  if (driven) dropTimer(state, expiry);
  else dropResults(state, nodeId, expiry);
  const value = (payload.resumeValue ?? null) as Json;
  const call = askedCall(state, nodeId, active, interruptId);
  if (call !== undefined) {
    const verdict = value as JsonObject;
    state.pending.push({ kind: 'recovered', nodeId, seq: event.seq, callId: call.callId, verdict });
    return;
  }
  if (driven) return;
  const timedOut = payload.reason === 'timeout';
  const answer = { interruptId, kind: payload.kind as string, value, timedOut };
  state.pending.push({ kind: 'answered', nodeId, seq: event.seq, answer });
}

/** The call about which a human was asked by this interrupt. */
function askedCall(state: RunState, nodeId: string, active: ActiveNode, interruptId: string): OpenCall | undefined {
  if (!isDriven(state, nodeId)) {
    const call = active.callId === null ? undefined : state.calls[active.callId];
    return call?.asked === interruptId ? call : undefined;
  }
  return callsOf(state, nodeId).find((call) => call.asked === interruptId);
}

const callsOf = (state: RunState, nodeId: string): OpenCall[] =>
  Object.values(state.calls).filter((call) => call.nodeId === nodeId);

/** Whatever belongs to the attempt ends with it: its timers, its open call, facts not acted on yet. */
export function endAttempt(state: RunState, nodeId: string, active: ActiveNode): void {
  for (const timerId of active.timers) delete state.timers[timerId];
  if (isDriven(state, nodeId)) {
    for (const { callId } of callsOf(state, nodeId)) closeCall(state, callId);
    for (const child in state.children)
      if (state.children[child as RunId]?.nodeId === nodeId) stray(state, child as RunId);
    delete state.inner[nodeId];
  } else if (active.callId !== null) {
    closeCall(state, active.callId);
  }
  dropFacts(state, nodeId);
}

/** Ends the attempt of a node that has a call or a delay under way; others are left as they are. */
export function abandon(state: RunState, nodeId: string, seq: number): void {
  if (isDriven(state, nodeId)) {
    cutShort(state, nodeId, seq);
    return;
  }
  const active = state.active[nodeId] as ActiveNode;
  const call = active.callId === null ? undefined : state.calls[active.callId];
  const isCalling = call !== undefined && call.asked === undefined;
  if (!isCalling && !active.timers.some((timerId) => state.timers[timerId]?.purpose === 'delay')) return;
  endAttempt(state, nodeId, active);
  active.timers = [];
  active.abandoned += 1;
  state.pending.push({ kind: 'abandoned', nodeId, seq });
}

/** Of a driven node only the calls under way end: what it has done so far is recorded, and is not done again. */
function cutShort(state: RunState, nodeId: string, seq: number): void {
  for (const call of callsOf(state, nodeId)) {
    if (call.asked !== undefined) continue;
    closeCall(state, call.callId);
    state.pending.push({ kind: 'cut-short', nodeId, seq, call });
  }
}

/** What is known of a driven node's call counts no more: it was asked for again, or is over. */
function dropOfCall(state: RunState, callId: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) => {
    if (fact.kind === 'cut-short') return fact.call.callId !== callId;
    return fact.kind !== 'recovered' || fact.callId !== callId;
  });
}

function dropTimer(state: RunState, timerId: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) => fact.kind !== 'timer' || fact.timer.timerId !== timerId);
}

/** What came of a wait or a call that is over counts no more; a time limit of the node that has passed still does. */
function dropResults(state: RunState, nodeId: string, timerId?: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) =>
    fact.kind === 'timer' ? fact.timer.timerId !== timerId : fact.nodeId !== nodeId,
  );
}

export function dropFacts(state: RunState, nodeId: string): void {
  const { pending } = state;
  if (pending.length === 0) return;
  if (pending.length === 1 && nodeOfFact(pending[0] as Pending) === nodeId) pending.length = 0;
  else state.pending = pending.filter((fact) => nodeOfFact(fact) !== nodeId);
}

const nodeOfFact = (fact: Pending): string | undefined => (fact.kind === 'timer' ? fact.timer.nodeId : fact.nodeId);
