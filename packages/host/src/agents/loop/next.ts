/** What an agent node does next, out of what its rows have told so far: one decision at a time. */

import { passedOn } from '../../engine/nodes/values.ts';
import type { DrivenContext, NodeAction } from '../../engine/workflow/node-type.ts';
import type { Model } from '../models/model-port.ts';
import type { ModelFailure } from '../models/turn.ts';
import { type Agent, agentOf, firstAgentId } from './agent.ts';
import { breachError, breachRow, checkPrice, turnBreach } from './budgets.ts';
import type { LoopOptions } from './loop-options.ts';
import { type Invocation, type LoopState, openCalls, type TurnRequest } from './loop-state.ts';
import {
  askModel,
  callPrefix,
  modelError,
  modelFor,
  retryModel,
  retryWait,
  toolsShown,
  waitToRetry,
} from './model-calls.ts';
import { promptRows } from './prompt.ts';
import { clientRow } from './rows.ts';
import { groupOf } from './settings.ts';
import { taskProblems } from './task.ts';
import { goOnWithCalls } from './tool-calls.ts';
import { actOnTurn, actOnVerdict, afterCalls, askNext, endBadly } from './turn-end.ts';

type Context = DrivenContext<LoopState>;

export function nextOfLoop(context: Context, options: LoopOptions): NodeAction | null {
  const { invocation } = context.inner;
  if (invocation === null) return begin(context, options);
  switch (invocation.stage) {
    case 'model':
      return goOnWithModel(context, invocation, options);
    case 'turn':
      return actOnTurn(context, invocation, options);
    case 'tools':
      if (openCalls(invocation).length > 0) return goOnWithCalls(context, invocation);
      return afterCalls(context, invocation, options);
    case 'held': {
      const verdict = invocation.held?.verdict ?? null;
      return verdict === null ? null : actOnVerdict(context, invocation, verdict, options);
    }
    case 'ready':
      return askNext({ context, invocation, options, agent: agentOf(context, invocation.agentId), rows: [] });
  }
}

/** The first invocation of the node, or that of a colleague. Whatever cannot be is said before anything is begun. */
function begin(context: Context, options: LoopOptions): NodeAction {
  const { inner, node } = context;
  const agent = agentOf(context, inner.handedOn?.agentId ?? firstAgentId(context));
  const problems = inner.handedOn === null ? taskProblems(agent, passedOn(context.inputs)) : [];
  if (problems.length > 0) {
    const message = `Node ${node.id} was given no task for ${agent.agentId}: ${problems.join('; ')}.`;
    const details = { agentId: agent.agentId, problems };
    return { kind: 'fail', error: { code: 'handoff_task_schema_violation', message, details, retryable: false } };
  }
  const model = modelFor(context, agent, options);
  checkPrice(context, model.prices !== null, `${model.provider}/${model.model}`);
  const breach = turnBreach(context, inner);
  if (breach !== null) {
    return { kind: 'fail', error: breachError(node.id, breach), drafts: [breachRow(node.id, breach)] };
  }
  const { drafts, effects } = askModel(context, {
    agentId: agent.agentId,
    provider: model.provider,
    model: model.model,
    turns: 0,
  });
  const first = [startedRow(context, agent, model, options), ...promptRows(context, agent, options)];
  return { kind: 'wait', drafts: [...first, ...drafts], effects };
}

function startedRow(context: Context, agent: Agent, { provider, model }: Model, options: LoopOptions) {
  const { definition } = context.compiled;
  return clientRow('agent.invocation.started', context.node.id, {
    invocationId: `${callPrefix(context)}${context.inner.invocations}`,
    agentId: agent.agentId,
    source: definition.metadata.source === 'run-api' ? 'run-api' : 'workflow-node',
    modelClass: agent.modelClass,
    resolvedModel: model,
    resolvedProvider: provider,
    ...(agent.ref.version === undefined ? {} : { resolvedAgentVersion: agent.ref.version }),
    toolSurfaceCount: toolsShown(context, agent, options).length,
    memoryBound: agent.isMemoryBound,
    group: groupOf(context),
  });
}

/** Nothing while the call is open; after a failure another attempt, at once or later, or the end. */
function goOnWithModel(context: Context, invocation: Invocation, options: LoopOptions): NodeAction | null {
  const request = invocation.request as TurnRequest;
  const { failure, timerId, isDue } = request;
  if (failure === null) return null;
  if (timerId !== null) return isDue ? { kind: 'wait', ...retryModel(context, invocation, request) } : null;
  const waitMs = retryWait(request, failure);
  if (waitMs !== null) return { kind: 'wait', drafts: waitToRetry(context, request, failure, waitMs) };
  return giveUp(context, invocation, failure, options);
}

function giveUp(context: Context, invocation: Invocation, failure: ModelFailure, options: LoopOptions): NodeAction {
  const nodeId = context.node.id;
  const agent = agentOf(context, invocation.agentId);
  const here = { context, invocation, agent, options, rows: [] };
  const error = modelError(nodeId, invocation.request as TurnRequest, failure);
  return failure.class === 'content_filter'
    ? endBadly(here, { ...error, code: 'model_refused', retryable: false }, 'refused')
    : endBadly(here, error);
}
