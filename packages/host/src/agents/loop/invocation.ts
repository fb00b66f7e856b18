/** What the loop knows of an agent node while it is active: plain JSON, changed by the node's rows alone. */
import type { FoldEvent, Json, JsonObject } from '@cairn/protocol';
import type { StepSafety } from '../../engine/ports.ts';
import type { ModelFailure, ModelMessage, ModelToolCall, Turn } from '../models/turn.ts';
import type { ToolQuestion, ToolRecord } from '../tools/tool.ts';
import { handedText } from './task.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export interface LoopState {
  /** Invocations begun in this attempt of the node. */
  invocations: number;
  /** Model turns asked for, over all invocations. */
  turns: number;
  toolCalls: number;
  /** Calls that changed something outside: an attempt that made one is not begun again by itself. */
  writes: number;
  tokens: number;
  costUsd: number;
  /** The one that is open. */
  invocation: Invocation | null;
  /** Work that was handed on and is not begun. */
  handedOn: { readonly agentId: string; readonly message: string } | null;
}

/**
 * What an invocation is doing: about to ask the model, waiting for it, to act on its turn, waiting for tools, holding a
 * decision for a human.
 */
export type Stage = 'ready' | 'model' | 'turn' | 'tools' | 'held';

export interface Invocation {
  readonly id: string;
  readonly agentId: string;
  /** seq of its `agent.invocation.started`: the conversation is what its context held before. */
  readonly startedSeq: number;
  readonly provider: string;
  readonly model: string;
  /** What it was handed; null for the task of the node. */
  readonly task: string | null;
  stage: Stage;
  /** What was said since the task. */
  readonly messages: ModelMessage[];
  /** Turns of this invocation that were asked for. */
  turns: number;
  /** Times the model was told that its result is not of the right shape. */
  repairs: number;
  request: ModelCall | null;
  stream: Stream;
  /** What the model answered last. */
  turn: Turn | null;
  /** The tool calls of that turn, by their number in it. */
  readonly calls: ToolCall[];
  held: Held | null;
}

/** The call of the model that is open, or that failed and is tried again. */
export interface ModelCall {
  readonly callId: string;
  attempt: number;
  /** Attempts that failed, not counting those that were cut short. */
  failures: number;
  failure: ModelFailure | null;
  /** The timer until the next attempt, and whether it has fired. */
  timerId: string | null;
  isDue: boolean;
}

/** What readers have seen of the attempt that is open. */
export interface Stream {
  deltas: number;
  chunks: number;
  channel: string | null;
}

export type CallStage = 'open' | 'asking' | 'asked' | 'answered' | 'done';

export interface ToolCall {
  readonly callId: string;
  /** Its place among the calls of the turn. */
  readonly index: number;
  readonly toolId: string;
  readonly calledSeq: number;
  readonly safety: StepSafety;
  attempt: number;
  stage: CallStage;
  readonly records: ToolRecord[];
  question: { readonly ordinal: number; readonly question: ToolQuestion } | null;
  interruptId: string | null;
  /** What the model is told of it. */
  output: Json;
  isError: boolean;
}

/** A decision that a human has to look at. */
export interface Held {
  readonly interruptId: string;
  readonly decision: Json;
  readonly confidence: number;
  verdict: Verdict | null;
}

const noStream = (): Stream => ({ deltas: 0, chunks: 0, channel: null });

export const freshLoop = (): LoopState => ({
  invocations: 0,
  turns: 0,
  toolCalls: 0,
  writes: 0,
  tokens: 0,
  costUsd: 0,
  invocation: null,
  handedOn: null,
});

/** Of all calls of an invocation, those that have no result yet. */
export const openCalls = ({ calls }: Invocation): ToolCall[] => calls.filter(({ stage }) => stage !== 'done');

/** Changes the state in place; deterministic, and its cost does not grow with what was said. */
export function evolveLoop(loop: LoopState, event: FoldEvent<string, JsonObject>): void {
  const { invocation } = loop;
  if (invocation === null) {
    if (event.type === 'agent.invocation.started') loop.invocation = begun(loop, event);
    return;
  }
  switch (event.type) {
    case 'agent.reasoning.delta':
      invocation.stream.deltas += 1;
      return;
    case 'output.chunk':
      chunk(invocation.stream, event.payload);
      return;
    case 'provider.usage':
      spend(loop, event.payload);
      return;
    case 'agent.toolCalled':
      toolCalled(loop, invocation, event);
      return;
    case 'agent.handoff':
      loop.handedOn = handedOn(event.payload);
      return;
    case 'agent.invocation.completed':
      loop.invocation = null;
      return;
    default:
      evolveInvocation(loop, invocation, event);
  }
}

function evolveInvocation(loop: LoopState, invocation: Invocation, event: FoldEvent<string, JsonObject>): void {
  const { payload } = event;
  switch (event.type) {
    case 'cairn.model.requested':
      modelRequested(loop, invocation, payload);
      break;
    case 'cairn.model.returned':
      modelReturned(invocation, payload);
      break;
    case 'cairn.model.abandoned':
      invocation.stream = noStream();
      break;
    case 'cairn.timer.set':
      if (invocation.request !== null) invocation.request.timerId = payload.timerId as string;
      break;
    case 'cairn.timer.fired':
      if (invocation.request !== null && invocation.request.timerId === payload.timerId)
        invocation.request.isDue = true;
      break;
    case 'agent.toolReturned':
      toolReturned(invocation, payload);
      break;
    case 'cairn.step.requested':
      enteredAgain(invocation, payload);
      break;
    case 'cairn.step.returned':
      stepReturned(invocation, payload);
      break;
    case 'interrupt.requested':
      asked(invocation, payload);
      break;
    case 'interrupt.resolved':
      answered(invocation, payload);
      break;
  }
}

function begun(loop: LoopState, { seq, payload }: FoldEvent<string, JsonObject>): Invocation {
  const task = loop.handedOn?.message ?? null;
  loop.handedOn = null;
  loop.invocations += 1;
  return {
    id: payload.invocationId as string,
    agentId: payload.agentId as string,
    startedSeq: seq,
    provider: payload.resolvedProvider as string,
    model: payload.resolvedModel as string,
    task,
    stage: 'ready',
    messages: [],
    turns: 0,
    repairs: 0,
    request: null,
    stream: noStream(),
    turn: null,
    calls: [],
    held: null,
  };
}

function handedOn({ toAgentId, context }: JsonObject): LoopState['handedOn'] {
  const { message, task } = context as JsonObject;
  return {
    agentId: toAgentId as string,
    message: handedText(message as string, task as JsonObject | undefined),
  };
}

function chunk(stream: Stream, { isLast, channel }: JsonObject): void {
  if (isLast === true) return;
  stream.chunks += 1;
  stream.channel = (channel ?? null) as string | null;
}

function spend(loop: LoopState, { inputTokens, outputTokens, totalTokens, costEstimateUsd }: JsonObject): void {
  loop.tokens += (totalTokens as number | undefined) ?? (inputTokens as number) + (outputTokens as number);
  loop.costUsd += (costEstimateUsd as number | undefined) ?? 0;
}

/** A first attempt begins a turn: what came of the calls of the turn before becomes part of what was said. */
function modelRequested(loop: LoopState, invocation: Invocation, payload: JsonObject): void {
  const { request } = invocation;
  const callId = payload.callId as string;
  const attempt = payload.attempt as number;
  invocation.stage = 'model';
  invocation.stream = noStream();
  if (request?.callId === callId) {
    invocation.request = { ...request, attempt, failure: null, timerId: null, isDue: false };
    return;
  }
  loop.turns += 1;
  invocation.turns += 1;
  invocation.request = { callId, attempt, failures: 0, failure: null, timerId: null, isDue: false };
  closeTurn(invocation);
  if (payload.repairs === true) invocation.repairs += 1;
  if (typeof payload.note === 'string') invocation.messages.push({ role: 'user', text: payload.note });
}

function closeTurn(invocation: Invocation): void {
  const { turn, calls, messages, held } = invocation;
  if (turn === null) return;
  const byIndex = new Map(calls.map((call) => [call.index, call]));
  for (const [index, { id, name }] of distinct(turn.toolCalls).entries()) {
    const call = byIndex.get(index);
    const told = call ?? { output: held === null ? 'This did not count.' : 'A person rejected this.', isError: true };
    messages.push({ role: 'tool', callId: id, name, output: told.output, isError: told.isError });
  }
  calls.length = 0;
  invocation.turn = null;
  invocation.held = null;
}

function modelReturned(invocation: Invocation, { callId, attempt, turn, error }: JsonObject): void {
  const { request } = invocation;
  if (request === null || request.callId !== callId || request.attempt !== attempt) return;
  if (turn === undefined) {
    request.failure = error as unknown as ModelFailure;
    request.failures += 1;
    return;
  }
  const answer = turn as unknown as Turn;
  invocation.request = null;
  invocation.stage = 'turn';
  invocation.turn = answer;
  invocation.messages.push({
    role: 'assistant',
    text: answer.text,
    ...(answer.reasoning === '' ? {} : { reasoning: answer.reasoning }),
    toolCalls: distinct(answer.toolCalls),
  });
}

/** A provider refuses a conversation in which two calls have one id, so that a repeated one gets another. */
function distinct(calls: readonly ModelToolCall[]): readonly ModelToolCall[] {
  const ids = calls.map(({ id }) => id);
  return calls.map((call, i) =>
    ids.indexOf(call.id) === i && call.id !== '' ? call : { ...call, id: `${call.id}#${i}` },
  );
}

function toolCalled(loop: LoopState, invocation: Invocation, { seq, payload }: FoldEvent<string, JsonObject>): void {
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

function toolReturned(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  const { error, outcome, contentTrust } = payload;
  const told = error === undefined ? (outcome ?? null) : { error };
  call.stage = 'done';
  call.isError = error !== undefined;
  call.output = contentTrust === 'untrusted' ? marked(call.toolId, told) : told;
}

/** Other people's words, marked as such; they cannot close the mark themselves. */
function marked(toolId: string, value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `<UNTRUSTED tool="${toolId}">${text.replaceAll(/<(\/?)UNTRUSTED/gi, '&lt;$1UNTRUSTED')}</UNTRUSTED>`;
}

function enteredAgain(invocation: Invocation, payload: JsonObject): void {
  const call = callOf(invocation, payload.callId);
  if (call === undefined) return;
  call.attempt = payload.attempt as number;
  call.stage = 'open';
}

function stepReturned(invocation: Invocation, payload: JsonObject): void {
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
function asked(invocation: Invocation, { interruptId, kind, data }: JsonObject): void {
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

function answered(invocation: Invocation, payload: JsonObject): void {
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
