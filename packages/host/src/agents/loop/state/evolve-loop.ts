/** How the rows of an agent node change what the loop knows of it. */
import type { JsonObject, RawEvent } from '@cairn/protocol';
import type { ModelFailure, ModelMessage, ModelToolCall, Turn } from '../../models/turn.ts';
import { modelName } from '../../tools/tool-registry.ts';
import { handedText } from '../task.ts';
import { answered, asked, enteredAgain, stepReturned, toolCalled, toolReturned } from './evolve-tool-calls.ts';
import { callsOf, type Invocation, type LoopState, noStream, type Stream } from './loop-state.ts';

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
      timerSet(invocation, payload);
      break;
    case 'cairn.timer.fired':
      timerFired(invocation, payload);
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
    messages: [],
    characters: 0,
    turns: 0,
    repairs: 0,
    stream: noStream(),
    stage: { kind: 'ready' },
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
  const { stage } = invocation;
  const callId = payload.callId as string;
  const attempt = payload.attempt as number;
  invocation.stream = noStream();
  if (stage.kind === 'model' && stage.call.callId === callId) {
    stage.call.attempt = attempt;
    stage.call.progress = { kind: 'open' };
    return;
  }
  loop.turns += 1;
  invocation.turns += 1;
  closeTurn(invocation);
  invocation.stage = { kind: 'model', call: { callId, attempt, failures: 0, progress: { kind: 'open' } } };
  if (payload.repairs === true) invocation.repairs += 1;
  if (typeof payload.note === 'string') say(invocation, { role: 'user', text: payload.note });
}

function timerSet({ stage }: Invocation, { timerId }: JsonObject): void {
  if (stage.kind !== 'model' || stage.call.progress.kind !== 'failed') return;
  stage.call.progress = { kind: 'waiting', timerId: timerId as string };
}

function timerFired({ stage }: Invocation, { timerId }: JsonObject): void {
  if (stage.kind !== 'model') return;
  const { progress } = stage.call;
  if (progress.kind === 'waiting' && progress.timerId === timerId) stage.call.progress = { kind: 'due' };
}

function say(invocation: Invocation, message: ModelMessage): void {
  invocation.messages.push(message);
  invocation.characters += JSON.stringify(message).length;
}

/** What the model is told of a call that got no row, which are the loop's own. */
const uncounted = { output: 'This did not count.', isError: true };
const rejected = { output: 'A person rejected this.', isError: true };

function closeTurn(invocation: Invocation): void {
  const { stage } = invocation;
  if (!('turn' in stage)) return;
  const byIndex = new Map(callsOf(invocation).map(({ index, progress }) => [index, progress]));
  const otherwise = stage.kind === 'held' || stage.kind === 'judged' ? rejected : uncounted;
  for (const [index, { id, name }] of sayable(stage.turn.toolCalls).entries()) {
    const progress = byIndex.get(index);
    const { output, isError } = progress?.kind === 'done' ? progress : otherwise;
    say(invocation, { role: 'tool', callId: id, name, output, isError });
  }
}

function modelReturned(invocation: Invocation, { turn, error }: JsonObject): void {
  const { stage } = invocation;
  if (stage.kind !== 'model') return;
  if (turn === undefined) {
    stage.call.progress = { kind: 'failed', failure: error as unknown as ModelFailure };
    stage.call.failures += 1;
    return;
  }
  const answer = turn as unknown as Turn;
  invocation.stage = { kind: 'turn', turn: answer };
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
