/** Model calls: requests a turn, builds its input, records its result, and decides when to retry. */
import { isoTime, type Json, type PayloadOf, row, TerminalError } from '@cairn/protocol';
import type { Draft, Effect, OpenCall, RunError } from '../../../engine/core/state.ts';
import type { CallResult } from '../../../engine/workflow/driven-calls.ts';
import { toolSurface } from '../../allowlist.ts';
import { failureOf, ModelError } from '../../models/model-error.ts';
import type { Model } from '../../models/model-port.ts';
import type { ModelFailure, ModelOutcome, ModelRequest, ModelTool } from '../../models/turn.ts';
import { type Agent, agentOf } from '../agent.ts';
import type { LoopContext } from '../agent-config.ts';
import { type Asking, modelAsked } from '../internal-events.ts';
import type { LoopOptions } from '../loop-options.ts';
import { openingWords } from '../prompt.ts';
import { heardBy, mockOf, peerOf, selectionOf, verbosityOf } from '../settings.ts';
import { exceeds, MAX_ROW_BYTES } from '../sizes.ts';
import { type Invocation, openInvocation, type TurnCall } from '../state/loop-state.ts';
import { modelCallId, placeOf } from './call-ids.ts';
import { loopToolsOf } from './loop-tools.ts';
import { accessIn } from './tool-access.ts';

/** Finds the model that an invocation keeps. Throws when none is configured. */
export function modelFor(context: LoopContext, agent: Agent, { models }: LoopOptions): Model {
  const { rehearsal, peer } = agent;
  const mock = mockOf(context);
  try {
    return models.find({
      selection: selectionOf(context, agent),
      ...(rehearsal === undefined ? {} : { rehearsal }),
      ...(mock === undefined ? {} : { mock }),
      ...(peer === undefined ? {} : { peer: peerOf(context, peer) }),
    });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new TerminalError('model_not_configured', {
      message: `Node ${context.node.id} has no model for ${agent.agentId}: ${failureOf(error).message}`,
      hint: 'Configure models.classes or models.default, or name a model in the node or in the options of the run.',
      details: { nodeId: context.node.id, agentId: agent.agentId },
    });
  }
}

export interface AskedTurn {
  readonly drafts: readonly Draft[];
  readonly effects: readonly Effect[];
}

/** Requests the first attempt of the next turn. `note` is a message from the loop itself, sent with the request. */
export function askModel(
  context: LoopContext,
  invocation: Asking,
  say: { readonly note?: string; readonly repairs?: boolean; readonly confidenceRefused?: boolean } = {},
): AskedTurn {
  const callId = modelCallId(placeOf(context), context.inner.turns);
  const { note, repairs, confidenceRefused } = say;
  const payload: PayloadOf<'cairn.model.requested'> = {
    ...requestPayload(context, invocation, { callId, attempt: 1 }),
    ...(note === undefined ? {} : { note }),
    ...(repairs === true ? { repairs } : {}),
    ...(confidenceRefused === true ? { confidenceRefused } : {}),
  };
  const watched = modelAsked(context, invocation, note === undefined ? 0 : 1);
  return {
    drafts: [...watched, row('cairn.model.requested', payload, { nodeId: context.node.id })],
    effects: [{ kind: 'step', callId }],
  };
}

/** A model turn has no side effects, so it is `idempotent`: a repeated request only costs twice. */
function requestPayload(
  context: LoopContext,
  invocation: Pick<Invocation, 'agentId' | 'provider' | 'model'>,
  { callId, attempt }: { readonly callId: string; readonly attempt: number },
): PayloadOf<'cairn.model.requested'> {
  const { agentId } = invocation;
  const { temperature, maxTokens } = selectionOf(context, { modelClass: '' });
  const options = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  const chosen = chosenModel(context, invocation);
  return { nodeId: context.node.id, callId, attempt, safety: 'idempotent', agentId, ...chosen, options };
}

/** The model that an invocation keeps, unless the overlay of a branch names another one while it is open. */
function chosenModel(
  context: LoopContext,
  { provider, model }: Pick<Invocation, 'provider' | 'model'>,
): Pick<Invocation, 'model'> & Partial<Pick<Invocation, 'provider'>> {
  const { fork } = context.state;
  const started = context.inner.invocation?.startedSeq;
  if (fork === undefined || !fork.changesModel || started === undefined || started >= fork.seq)
    return { provider, model };
  const asked = selectionOf(context, { modelClass: '' });
  return { model: asked.model ?? model, ...(asked.provider === undefined ? {} : { provider: asked.provider }) };
}

/** Requests the turn again after its attempt was interrupted. First closes the output that readers saw of it. */
export function askModelAgain(context: LoopContext, { callId, attempt }: OpenCall): readonly Draft[] {
  const invocation = openInvocation(context.inner);
  const nodeId = context.node.id;
  return [
    row('cairn.model.abandoned', { nodeId, callId, attempt, reason: 'interrupted' }, { nodeId }),
    ...modelAsked(context, invocation, 0),
    row('cairn.model.requested', requestPayload(context, invocation, { callId, attempt: attempt + 1 }), { nodeId }),
  ];
}

/** Describes, for human review, a turn whose attempts were interrupted repeatedly. */
export function aboutModel({ inner }: LoopContext) {
  const { agentId, provider, model } = openInvocation(inner);
  return { agentId, model: `${provider}/${model}` };
}

/** Builds the input of a model call. */
export function modelInput(context: LoopContext, options: LoopOptions): ModelRequest {
  const invocation = openInvocation(context.inner);
  const agent = agentOf(context, invocation.agentId);
  const { messages, turns, startedSeq } = invocation;
  const { system, text } = openingWords(context, agent, invocation, options);
  const mock = mockOf(context);
  return {
    agentId: agent.agentId,
    selection: { ...selectionOf(context, agent), ...chosenModel(context, invocation) },
    system,
    messages: [{ role: 'user', text }, ...messages],
    tools: toolsShown(context, agent, options),
    ...(agent.returnSchema === undefined ? {} : { responseSchema: agent.returnSchema }),
    group: heardBy(context),
    cutSeq: startedSeq,
    verbosity: verbosityOf(context, options),
    ...(agent.rehearsal === undefined ? {} : { rehearsal: agent.rehearsal }),
    turnIndex: turns - 1,
    ...(mock === undefined ? {} : { mock }),
    ...(agent.peer === undefined ? {} : { peer: peerOf(context, agent.peer) }),
  };
}

/** The tools the agent may use in this run, plus the loop's own tools. */
export function toolsShown(context: LoopContext, agent: Agent, options: LoopOptions): readonly ModelTool[] {
  const shown = toolSurface(accessIn(context, agent.allowlist, options)).map(
    ({ name, tool: { id, description, inputSchema } }): ModelTool => ({ toolId: id, name, description, inputSchema }),
  );
  return [...shown, ...loopToolsOf(agent)];
}

/** The row that records the result of a turn. */
export function modelReturned(context: LoopContext, { callId, attempt }: OpenCall, result: CallResult): Draft {
  const outcome = 'outcome' in result ? recordable(result.outcome) : { error: thrown(result) };
  const nodeId = context.node.id;
  return row('cairn.model.returned', { nodeId, callId, attempt, ...outcome }, { nodeId });
}

/** A turn too large for a row counts as failed. The performer returns a `ModelOutcome`. */
function recordable(outcome: Json): ModelOutcome {
  if (!exceeds(outcome, MAX_ROW_BYTES)) return outcome as ModelOutcome;
  const message = `The model's turn has more than ${MAX_ROW_BYTES} bytes of JSON, which is more than an event can hold.`;
  return { error: { class: 'bad_stream', code: 'event_too_large', message, retryable: false } };
}

/** Performers return failures as outcomes; an error they throw has no class. */
function thrown(result: Exclude<CallResult, { outcome: Json }>): ModelFailure {
  const { code, message, retryable }: RunError =
    'error' in result
      ? result.error
      : { code: 'model_call_failed', message: 'The call was given up.', retryable: false };
  return { class: 'unknown', code, message, retryable: retryable ?? false };
}

/** Failed attempts of one turn after which the node fails. */
const MAX_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Longest `retryAfterMs` that is honored; a longer one is not retried. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/** Wait before the next attempt, or null when there is none. Has no jitter: a run must decide deterministically. */
export function retryWait({ failures }: TurnCall, { retryable, retryAfterMs = 0 }: ModelFailure): number | null {
  if (!retryable || failures >= MAX_FAILURES || retryAfterMs > LONGEST_RETRY_AFTER_MS) return null;
  return Math.max(retryAfterMs, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)));
}

/** Sets the retry timer of a failed turn and closes the output that readers saw of it. */
export function waitToRetry(context: LoopContext, call: TurnCall, failure: ModelFailure, waitMs: number): Draft[] {
  const { stream } = openInvocation(context.inner);
  const nodeId = context.node.id;
  const { callId, attempt, failures } = call;
  const isSeen = stream.deltas > 0 || stream.chunks > 0;
  const timerId = `model:${callId}.${failures}`;
  const fireAt = isoTime(context.now + waitMs);
  const notice: PayloadOf<'cairn.error'> = {
    code: failure.code,
    message: failure.message,
    retryable: true,
    scope: 'llm',
    refId: callId,
    attempt,
    retryAfterMs: waitMs,
    details: { class: failure.class },
  };
  return [
    ...(isSeen ? [row('cairn.model.abandoned', { nodeId, callId, attempt, reason: failure.class }, { nodeId })] : []),
    row('cairn.error', notice, { nodeId }),
    row('cairn.timer.set', { timerId, purpose: 'delay', nodeId, fireAt }, { nodeId }),
  ];
}

/** Requests the next attempt of a failed turn. */
export function retryModel(context: LoopContext, invocation: Invocation, { callId, attempt }: TurnCall): AskedTurn {
  const payload = requestPayload(context, invocation, { callId, attempt: attempt + 1 });
  return {
    drafts: [...modelAsked(context, invocation, 0), row('cairn.model.requested', payload, { nodeId: context.node.id })],
    effects: [{ kind: 'step', callId }],
  };
}

export const modelError = (nodeId: string, { failures }: TurnCall, failure: ModelFailure): RunError => ({
  code: failure.code,
  message: `Node ${nodeId} gave up on its model${failures > 1 ? ` after ${failures} attempts` : ''}: ${failure.message}`,
  details: { class: failure.class },
  retryable: failure.retryable,
});
