/** `core.subWorkflow`: another workflow as a node of this one; the run of it is a child, and the node ends when it does. */
import type { Json, JsonObject, RunId } from '@cairn/protocol';
import type { ChildEnd, RunError } from '../core/state.ts';
import {
  budgetOfEach,
  childRefused,
  childRequested,
  childStarted,
  childWanted,
  dispatched,
  failureOf,
  nextChildId,
  unknownChild,
} from '../family/child-drafts.ts';
import { childRequest } from '../family/child-request.ts';
import { harvested, type Mapping, mappingProblems } from '../family/mappings.ts';
import type { MemoryScopeIsolation } from '../family/memory-scope.ts';
import type { DrivenContext, NodeDriver, NodeType } from '../workflow/node-type.ts';

interface SubWorkflowConfig {
  readonly workflowId: string;
  readonly onChildFailure?: 'fail-parent' | 'absorb';
  readonly inputMapping?: Mapping;
  readonly outputMapping?: Mapping;
  readonly propagateCancellation?: boolean;
  readonly memoryScopeIsolation?: MemoryScopeIsolation;
}

/** What is known of the child. */
interface Sub {
  childRunId: string | null;
  isStarted: boolean;
  failure: RunError | null;
  end: ChildEnd | null;
}

const configOf = ({ node }: DrivenContext<Sub>): SubWorkflowConfig => node.config as unknown as SubWorkflowConfig;

const harvestOf = (context: DrivenContext<Sub>): readonly string[] =>
  Object.values(configOf(context).outputMapping ?? {});

const driver: NodeDriver<Sub> = {
  fresh: () => ({ childRunId: null, isStarted: false, failure: null, end: null }),
  evolve(sub, { type, payload }) {
    if (type === 'cairn.step.requested') sub.childRunId = payload.childRunId as string;
    else if (type === 'node.dispatched') sub.isStarted = true;
    else if (type === 'cairn.step.returned') {
      // The end of a child of an attempt before this one is nothing to this one.
      if (payload.childRunId !== sub.childRunId) return;
      if (payload.error !== undefined) sub.failure = payload.error as unknown as RunError;
      else sub.end = payload.outcome as unknown as ChildEnd;
    }
  },
  next(context) {
    const { inner, node, visit, attempt } = context;
    if (inner.childRunId === null) {
      const budget = budgetOfEach(context, 1);
      if ('code' in budget) return { kind: 'fail', error: budget };
      const child = { childRunId: nextChildId(context), harvest: harvestOf(context) };
      const callId = `${node.id}#${visit}.${attempt}`;
      const drafts = childWanted(context, callId, child, budget);
      return { kind: 'wait', drafts, effects: [{ kind: 'step', callId }] };
    }
    if (inner.failure !== null) return { kind: 'fail', error: inner.failure };
    return inner.end === null || !inner.isStarted ? null : over(context, inner.childRunId, inner.end);
  },
  callInput(context) {
    const { workflowId, inputMapping = {}, propagateCancellation = true, memoryScopeIsolation } = configOf(context);
    return childRequest(context, {
      childRunId: context.inner.childRunId as RunId,
      workflowId,
      inputMapping,
      isDetached: !propagateCancellation,
      agentId: null,
      isolation: memoryScopeIsolation,
    });
  },
  returned(context, call, result) {
    const childRunId = context.inner.childRunId as RunId;
    const { workflowId } = configOf(context);
    if (!('error' in result)) return [dispatched(context, childRunId, workflowId), childStarted(context, call)];
    return childRefused(context, call, { childRunId, error: unknownChild(workflowId, result.error) });
  },
  again(context, { callId, attempt }) {
    const childRunId = context.inner.childRunId as RunId;
    const child = { childRunId, harvest: harvestOf(context) };
    return [childRequested(context, { callId, attempt: attempt + 1 }, child)];
  },
};

function over(context: DrivenContext<Sub>, childRunId: string, end: ChildEnd) {
  const { onChildFailure = 'fail-parent', outputMapping = {}, workflowId } = configOf(context);
  const { status: childStatus, error, variables } = end;
  if (childStatus !== 'completed' && onChildFailure === 'fail-parent') {
    return { kind: 'fail' as const, error: failureOf(workflowId, childRunId, childStatus, error) };
  }
  const isComplete = childStatus === 'completed';
  const { drafts } = isComplete ? harvested(context, outputMapping, variables) : { drafts: [] };
  const outputs: Record<string, Json> = { childRunId, childStatus };
  return { kind: 'complete' as const, outputs, drafts };
}

const known = [
  'workflowId',
  'waitForCompletion',
  'onChildFailure',
  'inputMapping',
  'outputMapping',
  'propagateCancellation',
  'memoryScopeIsolation',
];

function problemsOf(config: JsonObject): readonly string[] {
  const { workflowId, waitForCompletion, onChildFailure, inputMapping, outputMapping, propagateCancellation } = config;
  const problems: string[] = [];
  for (const key of Object.keys(config)) if (!known.includes(key)) problems.push(`config.${key} is not known`);
  if (typeof workflowId !== 'string' || workflowId === '') problems.push('config.workflowId must name a workflow');
  if (waitForCompletion !== undefined && waitForCompletion !== true) {
    problems.push('config.waitForCompletion must be true: a node always waits for its run');
  }
  if (onChildFailure !== undefined && onChildFailure !== 'fail-parent' && onChildFailure !== 'absorb') {
    problems.push('config.onChildFailure must be "fail-parent" or "absorb"');
  }
  if (propagateCancellation !== undefined && typeof propagateCancellation !== 'boolean') {
    problems.push('config.propagateCancellation must be true or false');
  }
  const { memoryScopeIsolation } = config;
  if (memoryScopeIsolation !== undefined && memoryScopeIsolation !== 'isolated') {
    problems.push('config.memoryScopeIsolation must be "isolated", or left out');
  }
  const mappings = [mappingProblems('inputMapping', inputMapping), mappingProblems('outputMapping', outputMapping)];
  return [...problems, ...mappings.flat()];
}

export const subWorkflow: NodeType = {
  typeId: 'core.subWorkflow',
  driver: driver as unknown as NodeDriver,
  check: ({ config }) => problemsOf(config as JsonObject),
  begin: () => ({ kind: 'wait', drafts: [] }),
};
