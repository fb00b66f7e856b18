/** `core.dispatch`: carries out what the supervisor of its run decided last: sends out workers, asks the user, or ends the run. */
import { invariant, type Json, type OrchestratorDecision, type RunId, row } from '@cairn/protocol';
import type { Draft, OpenCall, RunError, SupervisorDecision } from '../core/state.ts';
import {
  budgetOfEach,
  chainEvent,
  childRefused,
  childRequested,
  childStarted,
  childWanted,
  dispatched,
  failureOf,
  nextChildId,
  unknownChild,
} from '../family/child-drafts.ts';
import { childRequest } from '../family/inheritance.ts';
import { harvested } from '../family/mappings.ts';
import { type DrivenContext, defineNodeType, type NodeAction, type NodeDriver } from '../workflow/node-type.ts';
import { askUser, isAsking } from './ask-user.ts';
import { conversationAnswer } from './conversation-answers.ts';
import { channelProblems, stoppedConversation, USUAL_CHANNEL } from './conversation-drafts.ts';
import { escalated, needsLook, ratified } from './decision-floor.ts';
import { type DispatchConfig, dispatchConfig, MAX_FAN_OUT, mappingFor } from './dispatch-config.ts';
import { type Dispatch, evolveDispatch, freshDispatch, hasAsked, type Worker } from './dispatch-state.ts';

type Context = DrivenContext<Dispatch, DispatchConfig>;

/** What this node took up when it started; null when there was nothing. */
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

/** What workers side by side give back is taken in the order in which they were named, whoever was quicker. */
function joined(context: Context, joinOutcome: 'satisfied' | 'partial'): NodeAction {
  const completed = context.inner.workers.filter((worker) => outcomeOf(worker) === 'completed');
  const drafts: Draft[] = [];
  const changed = new Map<string, Json>();
  for (const worker of completed) {
    const seq = context.state.nextSeq + drafts.length;
    drafts.push(...harvest(context, worker, { cause: worker.toldSeq ?? seq, seq, changed }));
  }
  const told = (worker: Worker) => ({
    ...(worker.startedSeq === null ? {} : { childRunId: worker.childRunId }),
    childStatus: statusOf(worker),
  });
  const children = context.inner.workers.map((worker) => ({ workerId: worker.workerId, ...told(worker) }));
  // Where one is enough, others may be at work still, and are about to be cancelled.
  const last = context.inner.workers.findLast((worker) => outcomeOf(worker) !== 'open');
  const outputs = {
    ...(last === undefined ? {} : told(last)),
    joinOutcome,
    children,
    mergeOrder: completed.map(({ workerId }) => workerId),
  };
  return { kind: 'complete', outputs, drafts };
}

type Outcome = 'open' | 'completed' | 'failed';

function outcomeOf({ failure, end, toldSeq }: Worker): Outcome {
  if (failure !== null) return 'failed';
  if (end === null || toldSeq === null) return 'open';
  return end.status === 'completed' ? 'completed' : 'failed';
}

const statusOf = ({ failure, end }: Worker): string => (failure !== null ? 'failed' : (end?.status ?? 'running'));

const errorOf = (worker: Worker): RunError => {
  const { workerId, failure, end } = worker;
  return failure ?? failureOf(workerId, childOf(worker), end?.status ?? 'failed', end?.error);
};

/** The run of a worker that was asked for. */
function childOf({ childRunId, workerId }: Worker): RunId {
  invariant(childRunId !== null, 'worker-requested', { workerId });
  return childRunId;
}

/** Asks for these workers, all or none; the request of each follows its beginning. */
function begin(context: Context, workerIds: readonly string[], decidedSeq: number): NodeAction {
  const { node, visit, attempt, inner, state } = context;
  const budget = budgetOfEach(context, workerIds.length);
  if ('code' in budget) return { kind: 'fail', error: budget };
  const drafts: Draft[] = [];
  const effects: { kind: 'step'; callId: string }[] = [];
  for (const [ahead, workerId] of workerIds.entries()) {
    const callId = `${node.id}#${visit}.${attempt}/${inner.workers.length + ahead}`;
    const child = { childRunId: nextChildId(context, ahead), harvest: harvestOf(context, workerId) };
    const cause = state.nextSeq + drafts.length;
    const wanted = childWanted(context, callId, child, budget).map((draft) => ({ ...draft, cause }));
    drafts.push(chainEvent(context, 'dispatch.began', workerId, {}, decidedSeq), ...wanted);
    effects.push({ kind: 'step', callId });
  }
  return { kind: 'wait', drafts, effects };
}

const harvestOf = (context: Context, workerId: string): readonly string[] => {
  const { perWorkerOutputMappings, outputMapping } = context.config;
  return Object.values(mappingFor(perWorkerOutputMappings, workerId, outputMapping));
};

/** The rows by which workers that have ended are told of; one at a time gives back at once, several wait for the join. */
function tellEnds(context: Context): readonly Draft[] {
  const isParallel = context.config.fanOutPolicy === 'parallel';
  const { workers } = context.inner;
  const drafts: Draft[] = [];
  for (const worker of isParallel ? workers : workers.slice(-1)) {
    const { end, startedSeq, toldSeq, workerId } = worker;
    if (end === null || startedSeq === null || toldSeq !== null) continue;
    const phase =
      end.status === 'completed' ? 'child.completed' : end.status === 'cancelled' ? 'child.cancelled' : 'child.failed';
    const more = { childRunId: childOf(worker), ...(end.error === undefined ? {} : { error: end.error }) };
    const cause = context.state.nextSeq + drafts.length;
    drafts.push(chainEvent(context, phase, workerId, more, startedSeq));
    if (isParallel || end.status !== 'completed') continue;
    drafts.push(...harvest(context, worker, { cause, seq: cause + 1, changed: new Map() }));
  }
  return drafts;
}

interface Harvest {
  /** seq of the row that tells that the worker has completed, and of the first row of the harvest. */
  readonly cause: number;
  readonly seq: number;
  /** Variables that were changed before it in the same decision. */
  readonly changed: Map<string, Json>;
}

function harvest(context: Context, worker: Worker, { cause, seq, changed }: Harvest): readonly Draft[] {
  const { workerId, end } = worker;
  const { perWorkerOutputMappings, outputMapping } = context.config;
  const mapping = mappingFor(perWorkerOutputMappings, workerId, outputMapping);
  const { keys, drafts } = harvested(context, mapping, end?.variables ?? {}, changed);
  if (keys.length === 0) return [];
  const more = { childRunId: childOf(worker), harvestedKeys: keys };
  const told = chainEvent(context, 'output.harvested', workerId, more, cause);
  return [told, ...drafts.map((draft) => ({ ...draft, cause: seq }))];
}

/** Why the node may not go on: executions of all dispatch nodes of the run count together. */
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

function workerOf({ inner, node }: Context, { callId }: OpenCall): Worker {
  const worker = inner.workers.findLast((one) => one.callId === callId);
  invariant(worker !== undefined, 'call-has-worker', { nodeId: node.id, callId });
  return worker;
}

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
      return [
        chainEvent(context, 'dispatch.succeeded', workerId, { childRunId: id }, beganSeq),
        { ...dispatched(context, id, workerId), cause: decidedSeq },
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
  dispatches: true,
  config: dispatchConfig,
  driver,
  check: ({ config, node, definition }) =>
    config.askUserRouting === 'clarification'
      ? []
      : channelProblems(node, USUAL_CHANNEL, definition).map((message) => ({ path: [], message })),
  begin: () => ({ kind: 'wait', drafts: [] }),
});
