/** Folds the rows of an agent node into its loop state. */
import type { EventOf, FoldEvent, PayloadOf } from '@cairn/protocol';
import type { AttemptPlace } from '../../../engine/workflow/driven-calls.ts';
import type { ModelMessage, ModelToolCall } from '../../models/turn.ts';
import { modelName } from '../../tools/tool-registry.ts';
import { handedText } from '../task.ts';
import { answered, asked, enteredAgain, stepReturned, toolCalled, toolReturned } from './evolve-tool-calls.ts';
import { callsOf, type Invocation, type LoopState, noStream, type Stream } from './loop-state.ts';

/** Mutates the state in place. It is deterministic, and its cost does not grow with the conversation. */
export function evolveLoop(loop: LoopState, event: FoldEvent, place: AttemptPlace): void {
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
      toolCalled(loop, invocation, event, place);
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

/** Ignores all other row types, including types unknown to this version. */
function evolveInvocation(loop: LoopState, invocation: Invocation, event: FoldEvent): void {
  switch (event.type) {
    case 'cairn.model.requested':
      modelRequested(loop, invocation, event.payload);
      break;
    case 'cairn.model.returned':
      modelReturned(invocation, event.payload);
      break;
    case 'cairn.model.abandoned':
      invocation.stream = noStream();
      break;
    case 'cairn.timer.set':
      timerSet(invocation, event.payload.timerId);
      break;
    case 'cairn.timer.fired':
      timerFired(invocation, event.payload.timerId);
      break;
    case 'agent.toolReturned':
      toolReturned(invocation, event.payload);
      break;
    case 'cairn.step.requested':
      enteredAgain(invocation, event.payload);
      break;
    case 'cairn.step.returned':
      stepReturned(invocation, event.payload);
      break;
    case 'interrupt.requested':
      if (event.payload.kind === 'clarification') loop.questions = (loop.questions ?? 0) + 1;
      asked(invocation, event.payload);
      break;
    case 'interrupt.resolved':
      answered(invocation, event.payload);
      break;
  }
}

function begun(loop: LoopState, { seq, payload }: EventOf<'agent.invocation.started'>): Invocation {
  const task = loop.handedOn?.message ?? null;
  loop.handedOn = null;
  loop.invocations += 1;
  return {
    id: payload.invocationId,
    agentId: payload.agentId,
    startedSeq: seq,
    provider: payload.resolvedProvider ?? '',
    model: payload.resolvedModel ?? '',
    toolCount: payload.toolSurfaceCount ?? 0,
    task,
    messages: [],
    characters: 0,
    turns: 0,
    repairs: 0,
    stream: noStream(),
    stage: { kind: 'ready' },
  };
}

function handedOn({ toAgentId, context = {} }: PayloadOf<'agent.handoff'>): LoopState['handedOn'] {
  const { message, task } = context;
  return { agentId: toAgentId, message: handedText(typeof message === 'string' ? message : '', task) };
}

function chunk(stream: Stream, { isLast, channel }: PayloadOf<'output.chunk'>): void {
  if (isLast) return;
  stream.chunks += 1;
  stream.channel = channel ?? null;
}

function spend(loop: LoopState, usage: PayloadOf<'provider.usage'>): void {
  const { inputTokens, outputTokens, totalTokens = inputTokens + outputTokens, costEstimateUsd = 0 } = usage;
  loop.tokens += totalTokens;
  loop.costUsd += costEstimateUsd;
}

/** A first attempt starts a turn and appends the previous turn's tool results to the messages. */
function modelRequested(loop: LoopState, invocation: Invocation, payload: PayloadOf<'cairn.model.requested'>): void {
  const { stage } = invocation;
  const { callId, attempt } = payload;
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
  if (payload.confidenceRefused === true) {
    invocation.confidenceRefusals = (invocation.confidenceRefusals ?? 0) + 1;
  }
  if (payload.note !== undefined) say(invocation, { role: 'user', text: payload.note });
}

function timerSet({ stage }: Invocation, timerId: string): void {
  if (stage.kind !== 'model' || stage.call.progress.kind !== 'failed') return;
  stage.call.progress = { kind: 'waiting', timerId };
}

function timerFired({ stage }: Invocation, timerId: string): void {
  if (stage.kind !== 'model') return;
  const { progress } = stage.call;
  if (progress.kind === 'waiting' && progress.timerId === timerId) stage.call.progress = { kind: 'due' };
}

function say(invocation: Invocation, message: ModelMessage): void {
  invocation.messages.push(message);
  invocation.characters += JSON.stringify(message).length;
}

/** The result that the model sees for a call without a row; only the loop's own tools have such calls. */
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

function modelReturned(invocation: Invocation, { turn, error }: PayloadOf<'cairn.model.returned'>): void {
  const { stage } = invocation;
  if (stage.kind !== 'model') return;
  if (turn !== undefined) {
    const { text, reasoning } = turn;
    invocation.stage = { kind: 'turn', turn };
    const toolCalls = sayable(turn.toolCalls);
    say(invocation, { role: 'assistant', text, ...(reasoning === '' ? {} : { reasoning }), toolCalls });
  } else if (error !== undefined) {
    stage.call.progress = { kind: 'failed', failure: error };
    stage.call.failures += 1;
  }
}

/**
 * Repairs ids and names of calls for the next request: providers reject a conversation with duplicate call ids or with
 * invalid tool names.
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
