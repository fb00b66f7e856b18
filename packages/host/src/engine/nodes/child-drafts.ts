/** The rows by which a node starts a run of its own and tells what becomes of it. */
import type { JsonObject, RunId, RunStatus } from '@cairn/protocol';
import type { NodeContext } from '../compiled.ts';
import type { Draft, OpenCall, RunError } from '../state.ts';

/**
 * The id follows from the run that asks for it, so that a second start of it finds the first. `ahead`: runs of the same
 * decision before this one.
 */
export const nextChildId = ({ runId, state }: NodeContext, ahead = 0): RunId =>
  `${runId}.${state.childCount + ahead}` as RunId;

export type ChainPhase =
  | 'dispatch.began'
  | 'dispatch.succeeded'
  | 'dispatch.failed'
  | 'child.completed'
  | 'child.failed'
  | 'child.cancelled'
  | 'output.harvested';

export function chainEvent(
  { node, runId }: NodeContext,
  phase: ChainPhase,
  workerId: string,
  more: { readonly childRunId?: RunId; readonly error?: RunError; readonly harvestedKeys?: readonly string[] } = {},
  cause?: number,
): Draft {
  const { childRunId, error, harvestedKeys } = more;
  const payload: JsonObject = {
    phase,
    workerId,
    parentRunId: runId,
    ...(childRunId === undefined ? {} : { childRunId }),
    ...(harvestedKeys === undefined ? {} : { harvestedKeys }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
  const caused = cause === undefined ? {} : { cause };
  return { type: 'core.workflowChain.event', nodeId: node.id, audience: 'client', payload, ...caused };
}

/** Asks for a run; its start is the call, its end comes as a row of its own. */
export function childRequested(
  { node }: NodeContext,
  call: Pick<OpenCall, 'callId' | 'attempt'>,
  child: { readonly childRunId: RunId; readonly harvest: readonly string[] },
): Draft {
  const payload = { nodeId: node.id, ...call, ...child, step: 'cairn.child', safety: 'idempotent' };
  return { type: 'cairn.step.requested', nodeId: node.id, audience: 'operator', payload };
}

/** Ends the call that asked for it: it is there, or never will be. */
export function childStarted(
  { node }: NodeContext,
  { callId, attempt }: OpenCall,
  failed?: { readonly childRunId: RunId; readonly error: RunError },
): Draft {
  const payload = { nodeId: node.id, callId, attempt, ...(failed ?? { outcome: {} }) } as unknown as JsonObject;
  return { type: 'cairn.step.returned', nodeId: node.id, audience: 'operator', payload };
}

export function dispatched({ node }: NodeContext, childRunId: RunId, childWorkflowId: string): Draft {
  const payload = { childRunId, childWorkflowId, childStatus: 'running' };
  return { type: 'node.dispatched', nodeId: node.id, audience: 'client', payload };
}

/** Options of a run that are its children's, too: those that say how agents work, none that say how long the run may. */
const handedDown =
  /^(escalationThreshold|reasoningVerbosity|model|temperature|maxTokens|mockProvider|ai\..+|cairn\.tools)$/;

export const inherited = (configurable: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(configurable ?? {}).filter(([name]) => handedDown.test(name)));

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
