/** How the rows of an agent node change what the loop knows of it. */
import type { JsonObject, RawEvent } from '@cairn/protocol';
import type { ModelFailure, ModelMessage, ModelToolCall, Turn } from '../models/turn.ts';
import { modelName } from '../tools/tool-registry.ts';
import { answered, asked, enteredAgain, stepReturned, toolCalled, toolReturned } from './call-fold.ts';
import { type Invocation, type LoopState, noStream, type Stream } from './loop-state.ts';
import { handedText } from './task.ts';

/** Changes the state in place; deterministic, and its cost does not grow with what was said. */
export function evolveLoop(loop: LoopState, event: RawEvent): void {
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

function evolveInvocation(loop: LoopState, invocation: Invocation, event: RawEvent): void {
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

function begun(loop: LoopState, { seq, payload }: RawEvent): Invocation {
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
    characters: 0,
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
  if (typeof payload.note === 'string') say(invocation, { role: 'user', text: payload.note });
}

function say(invocation: Invocation, message: ModelMessage): void {
  invocation.messages.push(message);
  invocation.characters += JSON.stringify(message).length;
}

function closeTurn(invocation: Invocation): void {
  const { turn, calls, held } = invocation;
  if (turn === null) return;
  const byIndex = new Map(calls.map((call) => [call.index, call]));
  for (const [index, { id, name }] of sayable(turn.toolCalls).entries()) {
    const call = byIndex.get(index);
    const told = call ?? { output: held === null ? 'This did not count.' : 'A person rejected this.', isError: true };
    say(invocation, { role: 'tool', callId: id, name, output: told.output, isError: told.isError });
  }
  calls.length = 0;
  invocation.turn = null;
  invocation.held = null;
}

function modelReturned(invocation: Invocation, { turn, error }: JsonObject): void {
  const { request } = invocation;
  if (request === null) return;
  if (turn === undefined) {
    request.failure = error as unknown as ModelFailure;
    request.failures += 1;
    return;
  }
  const answer = turn as unknown as Turn;
  invocation.request = null;
  invocation.stage = 'turn';
  invocation.turn = answer;
  say(invocation, {
    role: 'assistant',
    text: answer.text,
    ...(answer.reasoning === '' ? {} : { reasoning: answer.reasoning }),
    toolCalls: sayable(answer.toolCalls),
  });
}

/**
 * The calls as providers take them back: they refuse a conversation in which two calls have one id, or in which one has a
 * name that no tool could have.
 */
function sayable(calls: readonly ModelToolCall[]): readonly ModelToolCall[] {
  const taken = new Set(calls.map(({ id }) => id));
  const seen = new Set<string>();
  return calls.map((call, i) => {
    const name = modelName(call.name) || 'unnamed';
    const isOwn = call.id !== '' && !seen.has(call.id);
    const id = isOwn ? call.id : unusedId(`${call.id || 'call'}_${i}`, taken);
    seen.add(id);
    taken.add(id);
    return id === call.id && name === call.name ? call : { ...call, id, name };
  });
}

function unusedId(id: string, taken: ReadonlySet<string>): string {
  return taken.has(id) ? unusedId(`${id}_`, taken) : id;
}
