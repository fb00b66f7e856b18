/** The rows by which a node starts a run of its own and tells what becomes of it. */
import { type PayloadOf, type RunId, type RunStatus, row } from '@cairn/protocol';
import type { Draft, OpenCall, RunError } from '../core/state.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import type { CompiledNode, NodeContext } from '../workflow/node-type.ts';
import { type Budget, nothingSpent } from './account.ts';
import { budgetGranted, budgetReturned, budgetShare } from './budget.ts';

/**
 * The id follows from the run that asks for it, so that a second start of it finds the first. `ahead`: runs of the same
 * decision before this one.
 */
export const nextChildId = ({ runId, state }: NodeContext, ahead = 0): RunId =>
  `${runId}.${state.childCount + ahead}` as RunId;

export type ChainPhase = PayloadOf<'core.workflowChain.event'>['phase'];

export function chainEvent(
  { node, runId }: NodeContext,
  phase: ChainPhase,
  workerId: string,
  more: { readonly childRunId?: RunId; readonly error?: RunError; readonly harvestedKeys?: readonly string[] } = {},
  cause?: number,
): Draft {
  const { childRunId, error, harvestedKeys } = more;
  const payload = {
    phase,
    workerId,
    parentRunId: runId,
    ...(childRunId === undefined ? {} : { childRunId }),
    ...(harvestedKeys === undefined ? {} : { harvestedKeys }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
  return row('core.workflowChain.event', payload, { nodeId: node.id, cause });
}

interface WantedChild {
  readonly childRunId: RunId;
  /** Variables of it that are wanted back. */
  readonly harvest: readonly string[];
}

/** What each of so many runs may use that a node is about to start; or why it may not. */
export function budgetOfEach({ state, compiled }: NodeContext, runs: number): Budget | RunError {
  const others = compiled.concurrentNodes().filter((node) => isStillToWork(state, node));
  return budgetShare(state, runs, others.length);
}

/** What has ended and is in no loop uses nothing any more. */
const isStillToWork = ({ active, view }: NodeContext['state'], { id, loops }: CompiledNode): boolean =>
  active[id] !== undefined || loops.length > 0 || !Object.hasOwn(view.nodeStates, id);

/** Asks for a run, and lends it what it may use; its start is the call, its end comes as rows of its own. */
export function childWanted(
  context: NodeContext,
  callId: string,
  child: WantedChild,
  budget: Budget,
): readonly Draft[] {
  return [
    childRequested(context, { callId, attempt: 1 }, child),
    budgetGranted(context.node.id, child.childRunId, budget),
  ];
}

/** The request itself, for the first time or again: what was lent stays as it was. */
export function childRequested(
  { node }: NodeContext,
  call: Pick<OpenCall, 'callId' | 'attempt'>,
  child: WantedChild,
): Draft {
  const nodeId = node.id;
  const payload = { nodeId, ...call, ...child, step: CHILD_PERFORMER, safety: 'idempotent' as const };
  return row('cairn.step.requested', payload, { nodeId });
}

/** Ends the call that asked for it: it is there. */
export function childStarted({ node }: NodeContext, { callId, attempt }: OpenCall): Draft {
  const nodeId = node.id;
  return row('cairn.step.returned', { nodeId, callId, attempt, outcome: {} }, { nodeId });
}

/** Ends the call that asked for it: it never will be there, and what it was lent comes back untouched. */
export function childRefused(
  { node: { id: nodeId } }: NodeContext,
  { callId, attempt }: OpenCall,
  { childRunId, error }: { readonly childRunId: RunId; readonly error: RunError },
): readonly Draft[] {
  return [
    budgetReturned(nodeId, childRunId, nothingSpent),
    row('cairn.step.returned', { nodeId, callId, attempt, childRunId, error }, { nodeId }),
  ];
}

export function dispatched({ node }: NodeContext, childRunId: RunId, childWorkflowId: string): Draft {
  return row('node.dispatched', { childRunId, childWorkflowId, childStatus: 'running' }, { nodeId: node.id });
}

/** That a workflow is not there is said by a name of its own. */
export const unknownChild = (workflowId: string, error: RunError): RunError =>
  error.code === 'not_found'
    ? { code: 'unknown_child_workflow', message: `There is no workflow ${workflowId}.`, retryable: false }
    : error;

/** Why a node fails whose run did not complete. */
export function failureOf(workflowId: string, childRunId: string, status: RunStatus, error?: RunError): RunError {
  const why = error === undefined ? '' : `: ${error.code}: ${error.message}`;
  return {
    code: 'child_failed',
    message: `The run ${childRunId} of ${workflowId} ended as ${status}${why}`,
    retryable: false,
    details: { childRunId, childStatus: status, ...(error === undefined ? {} : { childErrorCode: error.code }) },
  };
}
