/** `core.dispatch`: carries out the supervisor's latest decision: starts workers, asks the user, or ends the run. */
import { type Json, type OrchestratorDecision, row } from '@cairn/protocol';
import type { RunError, SupervisorDecision } from '../core/state.ts';
import {
  chainEvent,
  childRefused,
  childRequested,
  childStarted,
  dispatched,
  isDispatched,
  unknownChild,
} from '../family/child-drafts.ts';
import { childRequest } from '../family/inheritance.ts';
import { defineNodeType, type NodeAction, type NodeDriver } from '../workflow/node-type.ts';
import { askUser, isAsking } from './ask-user.ts';
import { conversationAnswer } from './conversation-answers.ts';
import { channelProblems, stoppedConversation, USUAL_CHANNEL } from './conversation-drafts.ts';
import { escalated, needsLook, ratified } from './decision-floor.ts';
import { type DispatchConfig, dispatchConfig, MAX_FAN_OUT, mappedVariables, mappingFor } from './dispatch-config.ts';
import { type Dispatch, evolveDispatch, freshDispatch, hasAsked } from './dispatch-state.ts';
import {
  begin,
  type DispatchContext as Context,
  childOf,
  errorOf,
  harvestOf,
  joined,
  outcomeOf,
  statusOf,
  tellEnds,
  workerOf,
} from './dispatch-workers.ts';

/** The decision that this node took when it started; null when there was none. */
function decidedFor({ state, node }: Context): SupervisorDecision | null {
  const carried = state.orchestration?.carried ?? {};
  return (Object.hasOwn(carried, node.id) ? carried[node.id] : undefined) ?? null;
}

function next(context: Context): NodeAction | null {
  const pending = decidedFor(context);
  if (pending === null) return { kind: 'fail', error: nothingDecided(context) };
  const { inner } = context;
  if (isAsking(inner)) return null;
  const isFresh = inner.workers.length === 0 && !hasAsked(inner);
  const refused = isFresh ? overCap(context) : null;
  if (refused !== null) return refused;
  const { decision } = pending;
  if (decision.kind === 'ask-user') return ask(context, decision.prompt, pending.seq);
  if (!needsLook(decision)) return carryOut(context, decision, pending.seq);
  if (inner.verdict === null) return { kind: 'wait', drafts: escalated(context, decision, pending.seq) };
  const verdict = ratified(decision, inner.verdict);
  return 'error' in verdict ? { kind: 'fail', error: verdict.error } : carryOut(context, verdict.decision, pending.seq);
}

const ask = (context: Context, prompt: string, decidedSeq: number): NodeAction | null =>
  askUser(context, { prompt, decidedSeq, routing: context.config.askUserRouting ?? 'auto' });

function carryOut(context: Context, decision: OrchestratorDecision, decidedSeq: number): NodeAction | null {
  if (decision.kind === 'ask-user') return ask(context, decision.prompt, decidedSeq);
  if (decision.kind === 'terminate') {
    const { reason = null } = decision;
    return { kind: 'complete', outputs: reason === null ? {} : { reason }, ports: [], endsRun: { reason } };
  }
  const { nextWorkerIds } = decision;
  const { fanOutPolicy = 'sequential' } = context.config;
  const most = fanOutPolicy === 'reject' ? 1 : fanOutPolicy === 'parallel' ? MAX_FAN_OUT : Number.POSITIVE_INFINITY;
  if (nextWorkerIds.length > most) {
    const message = `Node ${context.node.id} takes ${most} worker${most === 1 ? '' : 's'} at a time, and the decision names ${nextWorkerIds.length}.`;
    return { kind: 'fail', error: { code: 'fan_out_unsupported', message, retryable: false } };
  }
  const told = tellEnds(context);
  if (told.length > 0) return { kind: 'wait', drafts: told };
  return fanOutPolicy === 'parallel'
    ? sideBySide(context, nextWorkerIds, decidedSeq)
    : oneByOne(context, nextWorkerIds, decidedSeq);
}

function oneByOne(context: Context, workerIds: readonly string[], decidedSeq: number): NodeAction | null {
  const { workers } = context.inner;
  const next = workerIds.slice(workers.length, workers.length + 1);
  const last = workers.at(-1);
  if (last === undefined) return begin(context, next, decidedSeq);
  const outcome = outcomeOf(last);
  if (outcome === 'open') return null;
  const { onChildFailure = 'fail-parent' } = context.config;
  if (outcome !== 'completed' && onChildFailure === 'fail-parent') return { kind: 'fail', error: errorOf(last) };
  if (next.length > 0) return begin(context, next, decidedSeq);
  const outputs: Record<string, Json> = { childStatus: statusOf(last) };
  if (last.startedSeq !== null) outputs.childRunId = last.childRunId;
  return { kind: 'complete', outputs };
}

function sideBySide(context: Context, workerIds: readonly string[], decidedSeq: number): NodeAction | null {
  const { workers } = context.inner;
  if (workers.length === 0) return begin(context, workerIds, decidedSeq);
  const outcomes = workers.map(outcomeOf);
  const { joinPolicy = 'all' } = context.config;
  const failed = workers[outcomes.indexOf('failed')];
  if (joinPolicy === 'all' && failed !== undefined) return { kind: 'fail', error: errorOf(failed) };
  if (joinPolicy === 'any' && outcomes.includes('completed')) return joined(context, 'satisfied');
  if (outcomes.includes('open')) return null;
  if (joinPolicy === 'any' && failed !== undefined) return { kind: 'fail', error: errorOf(failed) };
  return joined(context, failed === undefined ? 'satisfied' : 'partial');
}

/** Fails the node when the run exceeds the iteration cap. Executions of all its dispatch nodes count together. */
function overCap(context: Context): NodeAction | null {
  const { iterationCap: limit } = context.config;
  if (limit === undefined) return null;
  const observed = dispatchesOf(context);
  return observed <= limit ? null : breach(context, { limit, observed });
}

const dispatchesOf = ({ state, compiled }: Context): number =>
  compiled.definition.nodes.reduce(
    (sum, { id, typeId }) => sum + (typeId === TYPE_ID ? (state.visits[id] ?? 0) : 0),
    0,
  );

function breach(
  { node: { id: nodeId } }: Context,
  cap: { readonly limit: number; readonly observed: number },
): NodeAction {
  const message = `The run passed its limit of ${cap.limit} dispatches.`;
  return {
    kind: 'fail',
    drafts: [row('cap.breached', { kind: 'dispatch-iterations', ...cap, nodeId }, { nodeId })],
    error: { code: 'loop_limit_exceeded', message, retryable: false },
  };
}

const nothingDecided = ({ node }: Context): RunError => ({
  code: 'no_pending_decision',
  message: `Node ${node.id} has nothing to carry out: no supervisor has decided anything.`,
  retryable: false,
});

const driver: NodeDriver<Dispatch, DispatchConfig> = {
  fresh: freshDispatch,
  evolve: evolveDispatch,
  next,
  answer: conversationAnswer,
  stopped: stoppedConversation,
  callInput(context, call) {
    const worker = workerOf(context, call);
    const { workerId } = worker;
    const { perWorkerInputMappings, inputMapping, memoryScopeIsolation } = context.config;
    return childRequest(context, {
      childRunId: childOf(worker),
      workflowId: workerId,
      inputMapping: mappingFor(perWorkerInputMappings, workerId, inputMapping),
      isDetached: false,
      agentId: context.state.orchestration?.agentId ?? null,
      isolation: memoryScopeIsolation,
    });
  },
  returned(context, call, result) {
    const worker = workerOf(context, call);
    const { workerId, beganSeq } = worker;
    const id = childOf(worker);
    const decidedSeq = decidedFor(context)?.seq ?? beganSeq;
    if (!('error' in result)) {
      // The cut of a branch may divide these rows. Those before it are recorded.
      return [
        ...(worker.startedSeq === null
          ? [chainEvent(context, 'dispatch.succeeded', workerId, { childRunId: id }, beganSeq)]
          : []),
        ...(isDispatched(context, id) ? [] : [{ ...dispatched(context, id, workerId), cause: decidedSeq }]),
        childStarted(context, call),
      ];
    }
    const error = unknownChild(workerId, result.error);
    return [
      chainEvent(context, 'dispatch.failed', workerId, { error }, beganSeq),
      ...childRefused(context, call, { childRunId: id, error }),
    ];
  },
  again(context, call) {
    const worker = workerOf(context, call);
    const child = { childRunId: childOf(worker), harvest: harvestOf(context, worker.workerId) };
    return [childRequested(context, { callId: call.callId, attempt: call.attempt + 1 }, child)];
  },
};

const TYPE_ID = 'core.dispatch';

export const dispatch = defineNodeType({
  typeId: TYPE_ID,
  variables: mappedVariables,
  dispatches: true,
  config: dispatchConfig,
  driver,
  check: ({ config, node, definition }) =>
    config.askUserRouting === 'clarification'
      ? []
      : channelProblems(node, USUAL_CHANNEL, definition).map((message) => ({ path: [], message })),
  begin: () => ({ kind: 'wait', drafts: [] }),
});
