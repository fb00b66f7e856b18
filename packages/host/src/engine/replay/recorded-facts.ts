/**
 * Tells facts from decisions in a record. A fact came from outside the engine, so a replay takes it over as it stands. It
 * is accepted only where a run could have received it: for an open call, interrupt, timer or child.
 */
import { isAlwaysFact, isCallResult, isJsonObject, isOnlyDecided, type JsonObject } from '@cairn/protocol';
import { isAwaited } from '../core/driven.ts';
import { timerFired } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import { agreed, type RecordedRow } from './recorded-row.ts';

/** The last answer to an interrupt, or turn of a conversation: more rows of it may follow. */
export type TakenFact =
  | { readonly kind: 'answer'; readonly interruptId: string; readonly cause: RecordedRow['cause'] }
  | { readonly kind: 'turn'; readonly seq: number };

export function takenFact({ type, seq, cause }: RecordedRow, { interruptId }: JsonObject): TakenFact | null {
  if (type === 'conversation.exchanged') return { kind: 'turn', seq };
  const isAnswer = type === 'interrupt.resolved' && typeof interruptId === 'string';
  return isAnswer ? { kind: 'answer', interruptId, cause } : null;
}

/** Returns true if the row can only be a fact in this state, whatever the present code would decide. */
export function isFact(state: RunState, row: RecordedRow, payload: () => JsonObject, last: TakenFact | null): boolean {
  const { type } = row;
  if (isAlwaysFact(type)) return true;
  if (isOnlyDecided(type)) return false;
  switch (type) {
    case 'cairn.timer.fired':
      return isDueTimer(state, row, payload());
    case 'cairn.step.returned':
      // A tool records what it has learnt on the way.
      return isResult(state, payload()) || (typeof payload().of === 'string' && isEmitted(state, row));
    case 'node.dispatched':
      return startsChild(state, row);
    case 'core.workflowChain.event':
      return String(payload().phase).startsWith('dispatch.') && startsChild(state, row);
    case 'cairn.budget.returned':
      return Object.hasOwn(state.children, String(payload().childRunId));
    case 'interrupt.resolved':
    case 'approval.received':
    case 'clarification.resolved':
    case 'node.resumed':
      return isOfAnswer(state, row, payload(), last);
    case 'variable.changed':
      // A decision changes a variable on account of a node.
      return row.nodeId === null && row.cause === null;
    case 'channel.written':
      return last?.kind === 'turn' && row.cause === last.seq && row.seq === last.seq + 1;
    case 'cairn.artifact.chunk':
    case 'artifact.created':
      return isEmitted(state, row) || isOfQuestion(state, row);
    default:
      if (isCallResult(type)) return isResult(state, payload()) || isCancel(state, row, payload);
      return isEmitted(state, row);
  }
}

/** An artifact holds the large parts of the answer to an open question. */
function isOfQuestion({ view: { interrupts } }: RunState, { nodeId, cause }: RecordedRow): boolean {
  for (const interruptId in interrupts) {
    const open = interrupts[interruptId];
    if (open?.seq === cause && open.nodeId === nodeId) return true;
  }
  return false;
}

/** The timer exists, it is due, and its row is the one that the present code writes for it. */
function isDueTimer(state: RunState, row: RecordedRow, { timerId }: JsonObject): boolean {
  const timer = typeof timerId === 'string' && Object.hasOwn(state.timers, timerId) ? state.timers[timerId] : undefined;
  return timer !== undefined && timer.fireAt <= row.at && agreed(timerFired(timer), row) !== null;
}

function isResult(state: RunState, { callId, attempt, childRunId }: JsonObject): boolean {
  if (typeof childRunId === 'string' && Object.hasOwn(state.children, childRunId)) return true;
  if (typeof callId !== 'string' || !state.calls.has(callId)) return false;
  return isAwaited(state, state.calls.get(callId), Number(attempt));
}

/** A call that waited for an answer was canceled. */
const isCancel = ({ view }: RunState, row: RecordedRow, payload: () => JsonObject): boolean =>
  isCanceled(row, payload) && Object.hasOwn(view.toolCalls, String(payload().callId));

/** The call ended without a result: somebody canceled it, or its node was stopped. */
export function isCanceled({ type }: RecordedRow, payload: () => JsonObject): boolean {
  if (!isCallResult(type)) return false;
  const { error } = payload();
  return isJsonObject(error) && error.code === 'tool_canceled';
}

/** The start of a child is recorded in several rows; the last of them is its result. */
function startsChild(state: RunState, { nodeId }: RecordedRow): boolean {
  for (const call of state.calls.values()) {
    if (call.nodeId === nodeId && call.step === CHILD_PERFORMER && call.asked === undefined) return true;
  }
  return false;
}

/** An expired interrupt is resolved by a decision, whose cause is the timer. */
function isOfAnswer(state: RunState, row: RecordedRow, { interruptId }: JsonObject, last: TakenFact | null): boolean {
  if (typeof interruptId !== 'string') return false;
  const { interrupts } = state.view;
  if (Object.hasOwn(interrupts, interruptId)) return row.cause === interrupts[interruptId]?.seq;
  return last?.kind === 'answer' && last.interruptId === interruptId && row.cause === last.cause;
}

/** A call in progress wrote the row. */
function isEmitted(state: RunState, { nodeId, cause }: RecordedRow): boolean {
  for (const call of state.calls.values()) {
    if (call.requestedSeq === cause && call.nodeId === nodeId && call.asked === undefined) return true;
  }
  return false;
}
