/** The workers of a `core.dispatch` node: starts them, tracks their outcome, and harvests their variables. */
import { invariant, type Json, payloadId, type RunId } from '@cairn/protocol';
import type { Draft, OpenCall, RunError } from '../core/state.ts';
import { budgetOfEach, chainEvent, childFailure, childWanted, nextChildId } from '../family/child-drafts.ts';
import { harvested } from '../family/mappings.ts';
import type { DrivenContext, NodeAction } from '../workflow/node-type.ts';
import { type DispatchConfig, mappingFor } from './dispatch-config.ts';
import type { Dispatch, Worker } from './dispatch-state.ts';

export type DispatchContext = DrivenContext<Dispatch, DispatchConfig>;

/** Merges the results of parallel workers in the order of the decision, not in the order of completion. */
export function joined(context: DispatchContext, joinOutcome: 'satisfied' | 'partial'): NodeAction {
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
  // With the join policy `any`, other workers may still be running. They will be cancelled.
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

export function outcomeOf({ failure, end, toldSeq }: Worker): Outcome {
  if (failure !== null) return 'failed';
  if (end === null || toldSeq === null) return 'open';
  return end.status === 'completed' ? 'completed' : 'failed';
}

export const statusOf = ({ failure, end }: Worker): string =>
  failure !== null ? 'failed' : (end?.status ?? 'running');

export const errorOf = (worker: Worker): RunError => {
  const { workerId, failure, end } = worker;
  return failure ?? childFailure(workerId, childOf(worker), end?.status ?? 'failed', end?.error);
};

/** The child run of a worker that was requested. */
export function childOf({ childRunId, workerId }: Worker): RunId {
  invariant(childRunId !== null, 'worker-requested', { workerId });
  return childRunId;
}

/** Requests all of these workers or none. Each request follows the worker's `dispatch.began`. */
export function begin(context: DispatchContext, workerIds: readonly string[], decidedSeq: number): NodeAction {
  const { node, visit, attempt, inner, state } = context;
  const budget = budgetOfEach(context, workerIds.length);
  if ('code' in budget) return { kind: 'fail', error: budget };
  const drafts: Draft[] = [];
  const effects: { kind: 'step'; callId: string }[] = [];
  for (const [ahead, workerId] of workerIds.entries()) {
    const place = `${node.id}#${visit}.${attempt}/${inner.workers.length + ahead}`;
    const callId = payloadId(state.view.idToken, 'call', place);
    const { perWorkerInputMappings, inputMapping: usual } = context.config;
    const inputMapping = mappingFor(perWorkerInputMappings, workerId, usual);
    const child = {
      ...{ childRunId: nextChildId(context, ahead), harvest: harvestOf(context, workerId) },
      ...{ workflowId: workerId, inputMapping, isDetached: false },
    };
    const cause = state.nextSeq + drafts.length;
    const wanted = childWanted(context, callId, child, budget).map((draft) => ({ ...draft, cause }));
    drafts.push(chainEvent(context, 'dispatch.began', workerId, {}, decidedSeq), ...wanted);
    effects.push({ kind: 'step', callId });
  }
  return { kind: 'wait', drafts, effects };
}

export const harvestOf = (context: DispatchContext, workerId: string): readonly string[] => {
  const { perWorkerOutputMappings, outputMapping } = context.config;
  return Object.values(mappingFor(perWorkerOutputMappings, workerId, outputMapping));
};

/** The rows that report ended workers. A sequential worker is harvested at once, parallel workers at the join. */
export function tellEnds(context: DispatchContext): readonly Draft[] {
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
  /** seq of the row that reports the worker's completion, and of the first row of the harvest. */
  readonly cause: number;
  readonly seq: number;
  /** Variables that earlier rows of the same decision changed. */
  readonly changed: Map<string, Json>;
}

function harvest(context: DispatchContext, worker: Worker, { cause, seq, changed }: Harvest): readonly Draft[] {
  const { workerId, end } = worker;
  const { perWorkerOutputMappings, outputMapping } = context.config;
  const mapping = mappingFor(perWorkerOutputMappings, workerId, outputMapping);
  const { keys, drafts } = harvested(context, mapping, end?.variables ?? {}, changed);
  if (keys.length === 0) return [];
  const more = { childRunId: childOf(worker), harvestedKeys: keys };
  const told = chainEvent(context, 'output.harvested', workerId, more, cause);
  return [told, ...drafts.map((draft) => ({ ...draft, cause: seq }))];
}

/** The worker that this call starts. */
export function workerOf({ inner, node }: DispatchContext, { callId }: OpenCall): Worker {
  const worker = inner.workers.findLast((one) => one.callId === callId);
  invariant(worker !== undefined, 'call-has-worker', { nodeId: node.id, callId });
  return worker;
}
