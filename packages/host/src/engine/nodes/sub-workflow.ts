/** `core.subWorkflow`: runs another workflow as a child run. The node ends when the child run ends. */
import { type FoldEvent, invariant, type Json, payloadId, type RunId } from '@cairn/protocol';
import { z } from 'zod';
import type { ChildEnd, RunError } from '../core/state.ts';
import {
  budgetOfEach,
  childFailure,
  childRefused,
  childRequested,
  childStarted,
  childWanted,
  dispatched,
  isDispatched,
  nextChildId,
  unknownChild,
} from '../family/child-drafts.ts';
import { childRequest } from '../family/inheritance.ts';
import { harvested, mapping } from '../family/mappings.ts';
import { memoryScopeIsolation } from '../family/memory-scope.ts';
import { type DrivenContext, defineNodeType, type NodeDriver } from '../workflow/node-type.ts';
import { text } from './config-fields.ts';
import { onChildFailure } from './dispatch-config.ts';

const config = z.strictObject({
  workflowId: text,
  waitForCompletion: z.literal(true, 'must be true: a node always waits for its run').optional(),
  onChildFailure: onChildFailure.optional(),
  inputMapping: mapping.optional(),
  outputMapping: mapping.optional(),
  propagateCancellation: z.boolean().optional(),
  memoryScopeIsolation: memoryScopeIsolation.optional(),
});

type Config = z.infer<typeof config>;
type Context = DrivenContext<Sub, Config>;

/** The state of the child run. */
interface Sub {
  childRunId: RunId | null;
  isStarted: boolean;
  failure: RunError | null;
  end: ChildEnd | null;
}

const harvestOf = ({ config }: Context): readonly string[] => Object.values(config.outputMapping ?? {});

/** The child run that the open call starts. */
function childOf({ inner: { childRunId }, node }: Context): RunId {
  invariant(childRunId !== null, 'child-requested', { nodeId: node.id });
  return childRunId;
}

const driver: NodeDriver<Sub, Config> = {
  fresh: () => ({ childRunId: null, isStarted: false, failure: null, end: null }),
  evolve(sub, event: FoldEvent) {
    if (event.type === 'cairn.step.requested') sub.childRunId = event.payload.childRunId ?? null;
    else if (event.type === 'node.dispatched') sub.isStarted = true;
    else if (event.type === 'cairn.step.returned') {
      const { childRunId, error, outcome } = event.payload;
      // Ignores the end of a child that an earlier attempt started.
      if (childRunId !== sub.childRunId) return;
      if (error !== undefined) sub.failure = error;
      else sub.end = outcome as ChildEnd;
    }
  },
  next(context) {
    const { inner, node, visit, attempt, state } = context;
    if (inner.childRunId === null) {
      const budget = budgetOfEach(context, 1);
      if ('code' in budget) return { kind: 'fail', error: budget };
      const { workflowId, inputMapping = {}, propagateCancellation = true } = context.config;
      const child = {
        ...{ childRunId: nextChildId(context), harvest: harvestOf(context) },
        ...{ workflowId, inputMapping, isDetached: !propagateCancellation },
      };
      const callId = payloadId(state.view.idToken, 'call', `${node.id}#${visit}.${attempt}`);
      const drafts = childWanted(context, callId, child, budget);
      return { kind: 'wait', drafts, effects: [{ kind: 'step', callId }] };
    }
    if (inner.failure !== null) return { kind: 'fail', error: inner.failure };
    return inner.end === null || !inner.isStarted ? null : over(context, inner.childRunId, inner.end);
  },
  callInput(context) {
    const { workflowId, inputMapping = {}, propagateCancellation = true, memoryScopeIsolation } = context.config;
    return childRequest(context, {
      childRunId: childOf(context),
      workflowId,
      inputMapping,
      isDetached: !propagateCancellation,
      agentId: null,
      isolation: memoryScopeIsolation,
    });
  },
  returned(context, call, result) {
    const childRunId = childOf(context);
    const { workflowId } = context.config;
    if (!('error' in result)) {
      const told = isDispatched(context, childRunId) ? [] : [dispatched(context, childRunId, workflowId)];
      return [...told, childStarted(context, call)];
    }
    return childRefused(context, call, { childRunId, error: unknownChild(workflowId, result.error) });
  },
  again(context, { callId, attempt }) {
    const child = { childRunId: childOf(context), harvest: harvestOf(context) };
    return [childRequested(context, { callId, attempt: attempt + 1 }, child)];
  },
};

function over(context: Context, childRunId: string, end: ChildEnd) {
  const { onChildFailure = 'fail-parent', outputMapping = {}, workflowId } = context.config;
  const { status: childStatus, error, variables } = end;
  if (childStatus !== 'completed' && onChildFailure === 'fail-parent') {
    return { kind: 'fail' as const, error: childFailure(workflowId, childRunId, childStatus, error) };
  }
  const isComplete = childStatus === 'completed';
  const { drafts } = isComplete ? harvested(context, outputMapping, variables) : { drafts: [] };
  const outputs: Record<string, Json> = { childRunId, childStatus };
  return { kind: 'complete' as const, outputs, drafts };
}

export const subWorkflow = defineNodeType({
  typeId: 'core.subWorkflow',
  variables: ({ inputMapping = {}, outputMapping = {} }) => ({
    sets: Object.keys(outputMapping),
    reads: Object.values(inputMapping),
  }),
  config,
  driver,
  begin: () => ({ kind: 'wait', drafts: [] }),
});
