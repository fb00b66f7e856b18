/** What the rows of tool calls, and of questions, change in an invocation. */
import type { Json, JsonObject, RawEvent } from '@cairn/protocol';
import type { StepSafety } from '../../../engine/ports.ts';
import { asUntrusted } from '../../models/untrusted.ts';
import type { ToolQuestion, ToolRecord } from '../../tools/tool.ts';
import { inWords } from '../task.ts';
import { verdictOf } from '../verdict.ts';
import { type AskedQuestion, callsOf, type Invocation, type LoopState, type ToolCall } from './loop-state.ts';

/** A call is asked for. */
export function toolCalled(loop: LoopState, invocation: Invocation, { seq, payload }: RawEvent): void {
  const { stage } = invocation;
  if (stage.kind !== 'turn' && stage.kind !== 'tools') return;
  const callId = payload.callId as string;
  const safety = payload.safety as StepSafety;
  loop.toolCalls += 1;
  if (safety === 'write') loop.writes += 1;
  const call: ToolCall = {
    callId,
    index: Number(callId.slice(callId.lastIndexOf('.') + 1)),
    toolId: payload.toolId as string,
    calledSeq: seq,
    safety,
    attempt: payload.attempt as number,
    records: [],
    progress: { kind: 'open' },
  };
  if (stage.kind === 'tools') stage.calls.push(call);
  else invocation.stage = { kind: 'tools', turn: stage.turn, calls: [call] };
}

const callOf = (invocation: Invocation, callId: Json | undefined): ToolCall | undefined =>
  callsOf(invocation).find((call) => call.callId === callId);

export function toolReturned(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  const { error, outcome, contentTrust } = payload;
  const told = error === undefined ? (outcome ?? null) : { error };
  const output = contentTrust === 'untrusted' ? asUntrusted(call.toolId, inWords(told)) : told;
  call.progress = { kind: 'done', output, isError: error !== undefined };
}

export function enteredAgain(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  call.attempt = payload.attempt as number;
  call.progress = { kind: 'open' };
}

export function stepReturned(invocation: Invocation, payload: JsonObject): void {
  if (payload.of !== undefined) {
    const call = callOf(invocation, payload.of);
    if (call !== undefined) record(call, payload);
    return;
  }
  const call = callOf(invocation, payload.callId);
  if (call === undefined || payload.suspended === undefined) return;
  const { ordinal, question } = payload.suspended as unknown as AskedQuestion;
  call.progress = { kind: 'asking', ordinal, question };
}

/** The first result of an ordinal counts: the function was told it. */
function record(call: ToolCall, { ordinal, name, outcome, error }: JsonObject): void {
  if (call.records.some((known) => known.ordinal === ordinal)) return;
  const result = error === undefined ? { outcome: outcome ?? null } : { error };
  call.records.push({ ordinal, kind: 'step', name, ...result } as unknown as ToolRecord);
}

/** The questions of a node are asked one at a time, so that this is the next call that has one. */
export function asked(invocation: Invocation, { interruptId, kind, data }: JsonObject): void {
  if (kind === 'low-confidence') {
    hold(invocation, interruptId as string, data as JsonObject);
    return;
  }
  if (kind === 'custom') return;
  for (const call of callsOf(invocation)) {
    if (call.progress.kind !== 'asking') continue;
    call.progress = { ...call.progress, kind: 'asked', interruptId: interruptId as string };
    return;
  }
}

function hold(invocation: Invocation, interruptId: string, { decision }: JsonObject): void {
  const { stage } = invocation;
  if (stage.kind !== 'turn' && stage.kind !== 'tools') return;
  invocation.stage = {
    kind: 'held',
    turn: stage.turn,
    calls: callsOf(invocation),
    interruptId,
    decision: decision as Json,
  };
}

export function answered(invocation: Invocation, payload: JsonObject): void {
  const { interruptId, resumeValue, reason } = payload;
  const { stage } = invocation;
  if (stage.kind === 'held' && stage.interruptId === interruptId) {
    const verdict = verdictOf(stage.decision, (resumeValue ?? null) as Json, reason === 'timeout');
    invocation.stage = { kind: 'judged', turn: stage.turn, calls: stage.calls, verdict };
    return;
  }
  for (const call of callsOf(invocation)) {
    const { progress } = call;
    if (progress.kind !== 'asked' || progress.interruptId !== interruptId) continue;
    const { ordinal, question } = progress;
    call.progress = { kind: 'answered' };
    const answer = { ordinal, kind: question.kind, name: question.name };
    call.records.push(
      reason === 'timeout' ? { ...answer, error: nobody } : { ...answer, outcome: answerTo(question, resumeValue) },
    );
    return;
  }
}

const nobody = { code: 'interrupt_timeout', message: 'Nobody answered in time.', retryable: false } as const;

/** The id of the one question that a tool asks in a clarification. */
export const QUESTION_ID = 'answer';

/** What was answered, without the form in which the interrupt has it. */
function answerTo(question: ToolQuestion, value: Json | undefined): Json {
  const fields = (value ?? {}) as JsonObject;
  if (question.kind === 'signIn') return fields.eventPayload ?? null;
  return (fields.answers as JsonObject | undefined)?.[QUESTION_ID] ?? null;
}
