/** Decides the next action of an agent node from the state folded from its rows. */

import { type PayloadOf, row } from '@cairn/protocol';
import type { Draft, RunError } from '../../engine/core/state.ts';
import { passedOn } from '../../engine/nodes/values.ts';
import type { NodeAction } from '../../engine/workflow/node-type.ts';
import { PEER_PROVIDER } from '../models/peer-model.ts';
import type { ModelFailure } from '../models/turn.ts';
import { type Agent, agentOf, firstAgentId } from './agent.ts';
import type { LoopContext } from './agent-config.ts';
import { breachError, breachRow, checkPrice, turnBreach } from './budgets.ts';
import { idOfInvocation, placeOf } from './calls/call-ids.ts';
import { askModel, modelError, modelFor, retryModel, retryWait, toolsShown, waitToRetry } from './calls/model-calls.ts';
import { goOnWithCalls } from './calls/tool-calls.ts';
import { askNext, endBadly, type LoopStep } from './invocation-end.ts';
import type { InvocationBasis, LoopOptions } from './loop-options.ts';
import { promptRows } from './prompt.ts';
import { groupOf } from './settings.ts';
import { openCalls, type TurnCall } from './state/loop-state.ts';
import { nodeTask, taskProblems } from './task.ts';
import { actOnTurn, actOnVerdict, afterCalls } from './turn-end.ts';

export function nextOfLoop(context: LoopContext, options: LoopOptions): NodeAction | null {
  const { invocation } = context.inner;
  if (invocation === null) return begin(context, options);
  const at: Place = { context, invocation, options };
  const { stage } = invocation;
  switch (stage.kind) {
    case 'model':
      return goOnWithModel(at, stage.call);
    case 'turn':
      return actOnTurn(stepOf(at), stage.turn);
    case 'tools':
      return openCalls(invocation).length > 0 ? goOnWithCalls(context, stage) : afterCalls(stepOf(at), stage.turn);
    case 'held':
      return null;
    case 'judged':
      return actOnVerdict(stepOf(at), stage);
    case 'ready':
      return askNext(stepOf(at));
  }
}

/** A step without its agent: the lookup is skipped when there is nothing to do. */
type Place = Pick<LoopStep, 'context' | 'invocation' | 'options'>;

const stepOf = (at: Place): LoopStep => ({ ...at, agent: agentOf(at.context, at.invocation.agentId), rows: [] });

/** Starts the node's first invocation, or that of a colleague. All checks run before the first row is written. */
function begin(context: LoopContext, options: LoopOptions): NodeAction {
  const { inner, node } = context;
  const agent = agentOf(context, inner.handedOn?.agentId ?? firstAgentId(context));
  const problems = inner.handedOn === null ? taskProblems(agent, passedOn(context.inputs)) : [];
  if (problems.length > 0) {
    const message = `Node ${node.id} was given no task for ${agent.agentId}: ${problems.join('; ')}.`;
    const details = { agentId: agent.agentId, problems };
    return { kind: 'fail', error: { code: 'handoff_task_schema_violation', message, details, retryable: false } };
  }
  const invocationId = idOfInvocation(placeOf(context), inner.invocations);
  const basis = options.recordedBasis?.({ nodeId: node.id, invocationId }) ?? basisOf(context, agent, options);
  const { provider, model } = basis;
  checkPrice(context, basis.isPriced, `${provider}/${model}`);
  const breach = turnBreach(context, inner);
  if (breach !== null) {
    return { kind: 'fail', error: breachError(node.id, breach), drafts: [breachRow(node.id, breach)] };
  }
  const { drafts, effects } = askModel(context, {
    agentId: agent.agentId,
    provider,
    model,
    turns: 0,
    toolCount: basis.toolCount,
  });
  const first = [startedRow(context, agent, { ...basis, invocationId }), ...promptRows(context, agent, options)];
  return { kind: 'wait', drafts: [...first, ...drafts], effects };
}

function basisOf(context: LoopContext, agent: Agent, options: LoopOptions): InvocationBasis {
  const { provider, model, prices } = modelFor(context, agent, options);
  return { provider, model, isPriced: prices !== null, toolCount: toolsShown(context, agent, options).length };
}

function startedRow(
  context: LoopContext,
  agent: Agent,
  { provider, model, toolCount, invocationId }: InvocationBasis & { readonly invocationId: string },
): Draft {
  const { definition } = context.compiled;
  const group = groupOf(context);
  const payload: PayloadOf<'agent.invocation.started'> = {
    invocationId,
    agentId: agent.agentId,
    source: definition.metadata.source === 'run-api' ? 'run-api' : 'workflow-node',
    modelClass: agent.modelClass,
    resolvedModel: model,
    resolvedProvider: provider,
    ...(agent.ref.version === undefined ? {} : { resolvedAgentVersion: agent.ref.version }),
    toolSurfaceCount: toolCount,
    memoryBound: agent.isMemoryBound,
    group,
    ...(group === 'isolated' ? {} : { task: context.inner.handedOn?.message ?? nodeTask(context) }),
  };
  return row('agent.invocation.started', payload, { nodeId: context.node.id });
}

/**
 * Does nothing while the call is open. After a failure it retries after a wait, or gives up. A branch may be cut right after
 * its source abandoned the attempt, and before it asked again or ended: then nobody makes the call, so it is requested.
 */
function goOnWithModel(at: Place, call: TurnCall): NodeAction | null {
  const { context, invocation } = at;
  const { progress } = call;
  switch (progress.kind) {
    case 'open':
      return context.state.calls.has(call.callId) ? null : { kind: 'wait', ...retryModel(context, invocation, call) };
    case 'waiting':
      return null;
    case 'due':
      return { kind: 'wait', ...retryModel(context, invocation, call) };
    case 'failed': {
      const { failure } = progress;
      const waitMs = retryWait(call, failure);
      if (waitMs !== null) return { kind: 'wait', drafts: waitToRetry(context, call, failure, waitMs) };
      return giveUp(stepOf(at), errorOf(at, call, failure), failure);
    }
  }
}

/** A peer that failed is no model that failed. */
function errorOf({ context, invocation }: Place, call: TurnCall, failure: ModelFailure): RunError {
  if (invocation.provider !== PEER_PROVIDER) return modelError(context.node.id, call, failure);
  const { code, message, retryable } = failure;
  return { code, message: `Node ${context.node.id} failed with its peer: ${message}`, retryable };
}

const giveUp = (step: LoopStep, error: RunError, failure: ModelFailure): NodeAction =>
  failure.class === 'content_filter'
    ? endBadly(step, { ...error, code: 'model_refused', retryable: false }, 'refused')
    : endBadly(step, error);
