/** What the rows of tool calls, and of questions, change in an invocation. */
import type { Json, JsonObject, RawEvent } from '@cairn/protocol';
import type { StepSafety } from '../../engine/ports.ts';
import { asUntrusted } from '../models/untrusted.ts';
import type { ToolQuestion, ToolRecord } from '../tools/tool.ts';
import type { Invocation, LoopState, ToolCall } from './loop-state.ts';
import { inWords } from './task.ts';
import { verdictOf } from './verdict.ts';

/** A call is asked for. */
export function toolCalled(loop: LoopState, invocation: Invocation, { seq, payload }: RawEvent): void {
  const callId = payload.callId as string;
  const safety = payload.safety as StepSafety;
  loop.toolCalls += 1;
  invocation.stage = 'tools';
  invocation.calls.push({
    callId,
    index: Number(callId.slice(callId.lastIndexOf('.') + 1)),
    toolId: payload.toolId as string,
    calledSeq: seq,
    safety,
    attempt: payload.attempt as number,
    stage: 'open',
    records: [],
    question: null,
    interruptId: null,
    output: null,
    isError: false,
  });
  if (safety === 'write') loop.writes += 1;
}

const callOf = ({ calls }: Invocation, callId: Json | undefined): ToolCall | undefined =>
  calls.find((call) => call.callId === callId);

export function toolReturned(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  const { error, outcome, contentTrust } = payload;
  const told = error === undefined ? (outcome ?? null) : { error };
  call.stage = 'done';
  call.isError = error !== undefined;
  call.output = contentTrust === 'untrusted' ? asUntrusted(call.toolId, inWords(told)) : told;
}

export function enteredAgain(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  call.attempt = payload.attempt as number;
  call.stage = 'open';
}

export function stepReturned(invocation: Invocation, payload: JsonObject): void {
  if (payload.of !== undefined) {
    const call = callOf(invocation, payload.of);
    if (call !== undefined) record(call, payload);
    return;
  }
  const call = callOf(invocation, payload.callId);
  if (call === undefined || payload.suspended === undefined) return;
  call.stage = 'asking';
  call.question = payload.suspended as unknown as ToolCall['question'];
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
    const { decision, observed } = data as JsonObject;
    invocation.stage = 'held';
    invocation.held = {
      interruptId: interruptId as string,
      decision: decision as Json,
      confidence: observed as number,
      verdict: null,
    };
    return;
  }
  const call = kind === 'custom' ? undefined : invocation.calls.find(({ stage }) => stage === 'asking');
  if (call === undefined) return;
  call.stage = 'asked';
  call.interruptId = interruptId as string;
}

export function answered(invocation: Invocation, payload: JsonObject): void {
  const { interruptId, resumeValue, reason } = payload;
  const { held } = invocation;
  if (held !== null && held.interruptId === interruptId) {
    held.verdict = verdictOf(held.decision, (resumeValue ?? null) as Json, reason === 'timeout');
    return;
  }
  const call = invocation.calls.find((open) => open.stage === 'asked' && open.interruptId === interruptId);
  if (call === undefined || call.question === null) return;
  const { ordinal, question } = call.question;
  call.stage = 'answered';
  call.interruptId = null;
  call.question = null;
  const answer = { ordinal, kind: question.kind, name: question.name };
  call.records.push(
    reason === 'timeout' ? { ...answer, error: nobody } : { ...answer, outcome: answerTo(question, resumeValue) },
  );
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
