/**
 * Tells facts from decisions in a record. A fact came from outside the engine, so a replay takes it over as it stands. It
 * is accepted only where a run could have received it: for an open call, interrupt, timer or child.
 */
import { isJsonObject, type JsonObject } from '@cairn/protocol';
import { isAwaited } from '../core/driven.ts';
import { timerFired } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import { agreed, type RecordedRow } from './recorded-row.ts';

/** Rows that no decision writes. */
const alwaysFacts: ReadonlySet<string> = new Set([
  'run.started',
  'run.resumed',
  'cairn.callback.requested',
  'cairn.cancel.requested',
  'cairn.pause.requested',
  'cairn.run.forked',
  'cairn.values.sealed',
  'conversation.exchanged',
  'replay.diverged',
]);

/** Rows that only decisions write. An open call is no excuse for them. */
const neverFacts: ReadonlySet<string> = new Set([
  'agent.decided',
  'agent.handoff',
  'agent.invocation.completed',
  'agent.invocation.started',
  'agent.promptResolved',
  'agent.toolCalled',
  'approval.requested',
  'cairn.budget.granted',
  'cairn.error',
  'cairn.input.forwarded',
  'cairn.internal.checkpoint',
  'cairn.internal.llm_call',
  'cairn.internal.thought',
  'cairn.model.abandoned',
  'cairn.model.requested',
  'cairn.step.requested',
  'cairn.task.status',
  'cairn.timer.set',
  'clarification.requested',
  'conversation.closed',
  'conversation.opened',
  'core.workflowChain.confidence-escalated',
  'interrupt.requested',
  'node.cancelled',
  'node.completed',
  'node.failed',
  'node.retried',
  'node.skipped',
  'node.started',
  'node.suspended',
  'prompt.composed',
  'provider.usage',
  'run.cancelled',
  'run.completed',
  'run.failed',
  'run.paused',
  'runOrchestrator.decided',
  'workflow.loopback-limit',
]);

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
  if (alwaysFacts.has(type)) return true;
  if (neverFacts.has(type)) return false;
  switch (type) {
    case 'cairn.timer.fired':
      return isDueTimer(state, row, payload());
    case 'cairn.step.returned':
      // A tool records what it has learnt on the way.
      return isResult(state, payload()) || (typeof payload().of === 'string' && isEmitted(state, row));
    case 'cairn.model.returned':
      return isResult(state, payload());
    case 'agent.toolReturned':
      return isResult(state, payload()) || isCancel(state, payload());
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
  if (typeof callId !== 'string' || !Object.hasOwn(state.calls, callId)) return false;
  return isAwaited(state, state.calls[callId], Number(attempt));
}

/** Somebody canceled a call that waited for an answer. */
const isCancel = ({ view }: RunState, { callId, error }: JsonObject): boolean =>
  isJsonObject(error) && error.code === 'tool_canceled' && Object.hasOwn(view.toolCalls, String(callId));

/** The start of a child is recorded in several rows; the last of them is its result. */
function startsChild(state: RunState, { nodeId }: RecordedRow): boolean {
  for (const callId in state.calls) {
    const call = state.calls[callId];
    if (call?.nodeId === nodeId && call.step === CHILD_PERFORMER && call.asked === undefined) return true;
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
  for (const callId in state.calls) {
    const call = state.calls[callId];
    if (call?.requestedSeq === cause && call.nodeId === nodeId && call.asked === undefined) return true;
  }
  return false;
}
