/** Folds the rows of tool calls and questions into an invocation. */
import {
  CLIENT_TOOL_EVENT,
  clientToolNamed,
  type EventOf,
  isDeniedSignIn,
  isJsonObject,
  type Json,
  type JsonObject,
  type PayloadOf,
} from '@cairn/protocol';
import { reasonIn, rejectedError } from '../../../engine/core/answers/rejection.ts';
import { cancelError } from '../../../engine/core/control/cancel-call.ts';
import type { AttemptPlace } from '../../../engine/workflow/driven-calls.ts';
import { asUntrusted } from '../../models/untrusted.ts';
import type { ToolError, ToolQuestion, ToolRecord } from '../../tools/tool.ts';
import { toolCallId, turnId } from '../calls/call-ids.ts';
import { inWords } from '../task.ts';
import { verdictOf } from '../verdict.ts';
import {
  type AnsweredStage,
  type AskedQuestion,
  callsOf,
  type Invocation,
  type LoopState,
  type ToolCall,
  type ToolsStage,
} from './loop-state.ts';

/** Opens a tool call. A row without a safety counts as a write. */
export function toolCalled(
  loop: LoopState,
  invocation: Invocation,
  { seq, payload }: EventOf<'agent.toolCalled'>,
  place: AttemptPlace,
): void {
  const { stage } = invocation;
  if (stage.kind !== 'turn' && stage.kind !== 'tools') return;
  const { callId, toolName, toolId = toolName, safety = 'write', attempt = 1 } = payload;
  loop.toolCalls += 1;
  if (safety === 'write') loop.writes += 1;
  const call: ToolCall = {
    callId,
    index: indexOf(callId, turnId(place, loop.turns - 1), stage),
    toolId,
    calledSeq: seq,
    safety,
    attempt,
    records: [],
    progress: clientToolNamed(toolId) === null ? { kind: 'open' } : clientsTurn(toolId),
  };
  if (stage.kind === 'tools') stage.calls.push(call);
  else invocation.stage = { kind: 'tools', turn: stage.turn, calls: [call] };
}

/**
 * The place of a call among all calls of its turn, which no field of the row has: it is the place whose id is that of the
 * row. The rows are in the order of the turn, without the calls that the loop answers itself.
 */
function indexOf(callId: string, turn: string, stage: AnsweredStage | ToolsStage): number {
  const last = stage.kind === 'tools' ? stage.calls.at(-1)?.index : undefined;
  const end = stage.turn.toolCalls.length;
  let index = last === undefined ? 0 : last + 1;
  while (index < end && toolCallId(turn, index) !== callId) index += 1;
  return index;
}

/** No performer runs the tool: the call waits for the client from its beginning. */
const clientsTurn = (toolId: string): ToolCall['progress'] => ({
  kind: 'asking',
  ordinal: 0,
  question: { kind: 'client', name: toolId },
});

const callOf = (invocation: Invocation, callId: string): ToolCall | undefined =>
  callsOf(invocation).find((call) => call.callId === callId);

export function toolReturned(invocation: Invocation, payload: PayloadOf<'agent.toolReturned'>): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  const { error, outcome, contentTrust } = payload;
  const told: Json = error === undefined ? (outcome ?? null) : { error: withOneName(error) };
  const output = contentTrust === 'untrusted' ? asUntrusted(call.toolId, inWords(told)) : told;
  call.progress = { kind: 'done', output, isError: error !== undefined };
}

/** The row has the code by two names, for its readers. The model needs one. */
function withOneName({ error: _, ...error }: NonNullable<PayloadOf<'agent.toolReturned'>['error']>): JsonObject {
  return error;
}

export function enteredAgain(invocation: Invocation, payload: PayloadOf<'cairn.step.requested'>): void {
  const { callId, attempt, recoveries = 0 } = payload;
  const call = callOf(invocation, callId);
  if (call === undefined) return;
  call.attempt = attempt;
  if (recoveries > 0) call.retries = (call.retries ?? 0) + 1;
  call.progress = { kind: 'open' };
}

export function stepReturned(invocation: Invocation, payload: PayloadOf<'cairn.step.returned'>): void {
  const { of, callId, suspended } = payload;
  const call = callOf(invocation, of ?? callId);
  if (call === undefined) return;
  if (of !== undefined) record(call, payload);
  // Only `toolReturned` in `../calls/tool-calls.ts` writes this field.
  else if (suspended !== undefined) call.progress = { kind: 'asking', ...(suspended as AskedQuestion) };
}

/** The first result of an ordinal wins: the function has already seen it. */
function record(call: ToolCall, payload: PayloadOf<'cairn.step.returned'>): void {
  const { ordinal = 0, name = '', ctx: kind = 'step', outcome = null, error } = payload;
  if (call.records.some((known) => known.ordinal === ordinal)) return;
  const place: Pick<ToolRecord, 'ordinal' | 'kind' | 'name'> = { ordinal, kind, name };
  if (error === undefined) call.records.push({ ...place, outcome });
  else call.records.push({ ...place, error: { ...error, retryable: error.retryable ?? false } });
}

/**
 * The calls of clients name themselves. Apart from them, a node asks one question at a time, so that any other row belongs
 * to the first call that is asking.
 */
export function asked(invocation: Invocation, payload: PayloadOf<'interrupt.requested'>): void {
  const { interruptId = '', kind, data, requestedAt } = payload;
  if (kind === 'low-confidence') {
    hold(invocation, interruptId, data.decision ?? null);
    return;
  }
  if (kind === 'custom') return;
  const clientCall = data.eventType === CLIENT_TOOL_EVENT && isJsonObject(data.correlation) ? data.correlation : null;
  const at = requestedAt === undefined ? {} : { askedAt: Date.parse(requestedAt) };
  for (const call of callsOf(invocation)) {
    const { progress } = call;
    if (progress.kind !== 'asking' || (progress.question.kind === 'client') !== (clientCall !== null)) continue;
    if (clientCall !== null && clientCall.toolCallId !== call.callId) continue;
    call.progress = { ...progress, ...at, kind: 'asked', interruptId };
    return;
  }
}

function hold(invocation: Invocation, interruptId: string, decision: Json): void {
  const { stage } = invocation;
  if (stage.kind !== 'turn' && stage.kind !== 'tools') return;
  const { turn } = stage;
  invocation.stage = { kind: 'held', turn, calls: callsOf(invocation), interruptId, decision };
}

export function answered(invocation: Invocation, payload: PayloadOf<'interrupt.resolved'>): void {
  const { interruptId, resumeValue = null, reason, outcome } = payload;
  const { stage } = invocation;
  if (stage.kind === 'held' && stage.interruptId === interruptId) {
    const verdict = verdictOf(stage.decision, resumeValue, reason === 'timeout');
    invocation.stage = { kind: 'judged', turn: stage.turn, calls: stage.calls, verdict };
    return;
  }
  for (const call of callsOf(invocation)) {
    const { progress } = call;
    if (progress.kind !== 'asked' || progress.interruptId !== interruptId) continue;
    const { ordinal, question, askedAt } = progress;
    const isCanceled = reason === 'canceled';
    const at = askedAt === undefined ? {} : { askedAt };
    call.progress = { kind: 'answered', ...at, ...(isCanceled ? { canceled: true } : {}) };
    const answer = { ordinal, kind: question.kind, name: question.name };
    const isTimeout = reason === 'timeout';
    const isRejected = question.kind === 'ask' && outcome === 'rejected' && !isTimeout;
    const refusal = isRejected ? rejected(resumeValue) : refusalOf(question, resumeValue, isTimeout);
    const error = isCanceled ? canceled(resumeValue) : refusal;
    call.records.push(error === null ? { ...answer, outcome: answerTo(question, resumeValue) } : { ...answer, error });
    return;
  }
}

/** A tool may pass the question on: then it passes the reason on, too. */
function rejected(value: Json): ToolError {
  const reason = reasonIn(value);
  return { ...rejectedError(value), ...(reason !== undefined && { reason }) };
}

/** Why the question has no answer; null when it has one. */
function refusalOf({ kind, name }: ToolQuestion, value: Json, isTimeout: boolean): ToolError | null {
  if (kind === 'ask') return isTimeout ? nobody : null;
  if (kind === 'client') return isTimeout ? tooLate(name) : clientError(value);
  if (isTimeout) return { code: 'auth_expired', message: `Nobody signed in to ${name} in time.`, retryable: true };
  if (!isDeniedSignIn(value)) return null;
  return { code: 'auth_denied', message: `The user did not sign in to ${name}.`, retryable: false };
}

const tooLate = (toolId: string): ToolError => ({
  code: 'tool_timeout',
  message: `The client did not answer the call of ${toolId} in time.`,
  retryable: true,
});

function clientError(value: Json): ToolError | null {
  const { error } = isJsonObject(value) && isJsonObject(value.eventPayload) ? value.eventPayload : {};
  return typeof error === 'string' ? { code: 'tool_failed', message: error, retryable: false } : null;
}

/** The value that resolved the question of a canceled call may say why. */
const canceled = (value: Json): ToolError => ({
  ...cancelError(isJsonObject(value) && typeof value.reason === 'string' ? value.reason : undefined),
  retryable: false,
});

const nobody = { code: 'interrupt_timeout', message: 'Nobody answered in time.', retryable: false } as const;

/** The id of the one question that a tool asks in a clarification. */
export const QUESTION_ID = 'answer';

/** Unwraps the answer from the interrupt's resume value. */
function answerTo(question: ToolQuestion, value: Json): Json {
  if (!isJsonObject(value)) return null;
  if (question.kind === 'signIn') return value.eventPayload ?? null;
  if (question.kind === 'client') return (isJsonObject(value.eventPayload) ? value.eventPayload.result : null) ?? null;
  return (isJsonObject(value.answers) ? value.answers[QUESTION_ID] : null) ?? null;
}
