/** The rows by which a node starts a child run and reports its result. */
import { childRunIdOf, type PayloadOf, type RunId, type RunStatus, row } from '@cairn/protocol';
import { hasRulesOf } from '../core/engine-version.ts';
import type { Draft, OpenCall, RunError } from '../core/state.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import type { CompiledNode, NodeContext } from '../workflow/node-type.ts';
import { type Budget, nothingSpent } from './account.ts';
import { budgetGranted, budgetReturned, budgetShare } from './budget.ts';
import { type Mapping, projected } from './mappings.ts';

/**
 * Derives the child's id from the parent run, so that a repeated start finds the first one. `ahead` is the number of
 * runs before this one in the same decision.
 */
export const nextChildId = ({ runId, state }: NodeContext, ahead = 0): RunId =>
  childRunIdOf(runId, state.childCount + ahead);

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
  /** The child's variables to return to the parent. */
  readonly harvest: readonly string[];
}

/** A child, with what it is asked to do. */
interface NewChild extends WantedChild {
  readonly workflowId: string;
  readonly inputMapping: Mapping;
  readonly isDetached: boolean;
}

/** The budget of each of `runs` child runs that a node starts, or the error when the budget does not allow them. */
export function budgetOfEach({ state, compiled }: NodeContext, runs: number): Budget | RunError {
  return budgetShare(state, runs, othersAtWork({ state, compiled }));
}

/** Nodes of other branches that may still use what is left. */
export const othersAtWork = ({ state, compiled }: Pick<NodeContext, 'state' | 'compiled'>): number =>
  compiled.concurrentNodes().filter((node) => isStillToWork(state, node)).length;

/** A node that has ended and is in no loop uses no more budget. */
const isStillToWork = ({ active, view }: NodeContext['state'], { id, loops }: CompiledNode): boolean =>
  active[id] !== undefined || loops.length > 0 || !Object.hasOwn(view.nodeStates, id);

/** Requests a child run and lends it its budget. The call covers only the start; other rows report the end. */
export function childWanted(
  context: NodeContext,
  callId: string,
  { childRunId, harvest, ...asked }: NewChild,
  budget: Budget,
): readonly Draft[] {
  const nodeId = context.node.id;
  const payload = {
    ...{ nodeId, callId, attempt: 1, childRunId, harvest, step: CHILD_PERFORMER, safety: 'idempotent' as const },
    ...(hasRulesOf(2, context.state.view) && wordsOf(context, asked)),
  };
  return [row('cairn.step.requested', payload, { nodeId }), budgetGranted(nodeId, childRunId, budget)];
}

type Asked = Pick<NewChild, 'workflowId' | 'inputMapping' | 'isDetached'>;

function wordsOf(context: NodeContext, { workflowId, inputMapping, isDetached }: Asked) {
  const prompt = promptFor(context, inputMapping);
  return {
    childWorkflowId: workflowId,
    ...(prompt === undefined ? {} : { prompt }),
    ...(isDetached ? { detached: true as const } : {}),
  };
}

/** Inputs that say in words what a run is to do, by their usual names. */
const wordedInputs = ['message', 'task', 'prompt'];

const MAX_PROMPT = 1_000;

/** A sealed value is no word of the user. */
function promptFor(context: NodeContext, inputMapping: Mapping): string | undefined {
  const { sealed = {} } = context.state;
  const { inputs } = projected(context, inputMapping);
  for (const name of wordedInputs) {
    const said = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (typeof said !== 'string' || said.trim() === '' || Object.hasOwn(sealed, said)) continue;
    return said.length > MAX_PROMPT ? `${said.slice(0, MAX_PROMPT).toWellFormed()}…` : said;
  }
  return undefined;
}

/** Requests a child run again. The loan does not change. */
export function childRequested(
  { node }: NodeContext,
  call: Pick<OpenCall, 'callId' | 'attempt'>,
  child: WantedChild,
): Draft {
  const nodeId = node.id;
  const payload = { nodeId, ...call, ...child, step: CHILD_PERFORMER, safety: 'idempotent' as const };
  return row('cairn.step.requested', payload, { nodeId });
}

/** Closes the start call: the child run exists. */
export function childStarted({ node }: NodeContext, { callId, attempt }: OpenCall): Draft {
  const nodeId = node.id;
  return row('cairn.step.returned', { nodeId, callId, attempt, outcome: {} }, { nodeId });
}

/** Closes the start call: the child run will never exist, and its loan returns unused. */
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

/** Whether the log says that the child started. The row that records its end does not name its workflow. */
export const isDispatched = ({ state }: NodeContext, childRunId: RunId): boolean =>
  state.view.childRuns.some(({ runId, workflowId }) => runId === childRunId && workflowId !== '');

/** Gives a missing workflow an error code of its own. */
export const unknownChild = (workflowId: string, error: RunError): RunError =>
  error.code === 'not_found'
    ? { code: 'unknown_child_workflow', message: `There is no workflow ${workflowId}.`, retryable: false }
    : error;

/** The error of a node whose child run did not complete. */
export function childFailure(workflowId: string, childRunId: string, status: RunStatus, error?: RunError): RunError {
  const why = error === undefined ? '' : `: ${error.code}: ${error.message}`;
  return {
    code: 'child_failed',
    message: `The run ${childRunId} of ${workflowId} ended as ${status}${why}`,
    retryable: false,
    details: { childRunId, childStatus: status, ...(error === undefined ? {} : { childErrorCode: error.code }) },
  };
}
