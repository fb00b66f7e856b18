/** Driven nodes: asks their drivers for the next action and turns it into rows and calls. */
import type { InterruptView, JsonObject } from '@cairn/protocol';
import type { CallResult, SentAnswer } from '../workflow/driven-calls.ts';
import type { DrivenContext, NodeContext, NodeDriver } from '../workflow/node-type.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import type { CallCancel } from './control/call-cancel.ts';
import { activeContext, perform, withCause } from './node-decisions.ts';
import { nodeById } from './node-of.ts';
import type { Decision, Draft, OpenCall, RunState } from './state.ts';
import { stepRequested } from './step-rows.ts';

/** An active node with its driver. */
interface Driven {
  readonly driver: NodeDriver;
  readonly context: DrivenContext;
}

/** Returns null for a node without a driver. */
function drivenOf(context: NodeContext): Driven | null {
  const { id, type } = context.compiled;
  const inner = context.state.inner[id];
  return type.driver === undefined || inner === undefined
    ? null
    : { driver: type.driver, context: { ...context, inner } };
}

const drivenNode = (state: RunState, workflow: Workflow, nodeId: string): Driven | null =>
  state.inner[nodeId] === undefined ? null : drivenOf(activeContext(state, nodeById(workflow, nodeId), workflow));

/** Returns the decision of the first driven node that has work to do, or null if all of them wait. */
export function driveNodes(state: RunState, workflow: Workflow): Decision | null {
  for (const nodeId in state.inner) {
    const driven = drivenNode(state, workflow, nodeId);
    if (driven === null) continue;
    const { driver, context } = driven;
    // A classified error fails the node; any other error from a driver fails the run.
    let isWaiting = false;
    const act = () => {
      const action = driver.next(context);
      isWaiting = action === null;
      return action ?? { kind: 'wait' as const, drafts: [] };
    };
    const decision = perform(context, act, state.nextSeq - 1);
    if (!isWaiting) return decision;
  }
  return null;
}

/** Requests the next attempt of a call. */
export function askAgain(context: NodeContext, call: OpenCall, cause: number): Decision {
  const driven = drivenOf(context);
  const drafts =
    driven === null
      ? [stepRequested({ ...call, attempt: call.attempt + 1 }, cause)]
      : withCause(driven.driver.again(driven.context, call), cause);
  return { drafts, effects: [{ kind: 'step', callId: call.callId }] };
}

/**
 * Returns the rows that close a driven node's call, with the performer's result or a human's verdict. Returns null for
 * the call of a step.
 */
export function closingRows(
  context: NodeContext,
  call: OpenCall,
  { result, cause }: { readonly result: CallResult; readonly cause: number },
): readonly Draft[] | null {
  const driven = drivenOf(context);
  return driven === null ? null : withCause(driven.driver.returned(driven.context, call, result), cause);
}

/**
 * Returns the rows that close the open work of a driven node before it is cancelled or times out. Empty for other
 * nodes.
 */
export function stoppedRows(state: RunState, workflow: Workflow, nodeId: string, cause: number): readonly Draft[] {
  const driven = drivenNode(state, workflow, nodeId);
  return driven === null ? [] : withCause(driven.driver.stopped?.(driven.context) ?? [], cause);
}

/** Returns true if the node has made an external write, or waits for a write whose progress is unknown. */
export function hasWritten(state: Readonly<RunState>, { id: nodeId, type }: CompiledNode): boolean {
  const inner = state.inner[nodeId];
  if (inner === undefined) return false;
  if (type.driver?.hasWritten?.(inner) === true) return true;
  return [...state.calls.values()].some((call) => call.nodeId === nodeId && call.safety === 'write');
}

/** Returns the input of a driven node's call, or null for the call of a step. */
export function drivenInput(state: RunState, workflow: Workflow, call: OpenCall): JsonObject | null {
  const driven = drivenNode(state, workflow, call.nodeId);
  return driven === null ? null : driven.driver.callInput(driven.context, call);
}

/** Returns the details a human needs to review a driven node's call, or null for the call of a step. */
export function aboutDriven(state: RunState, workflow: Workflow, call: OpenCall): JsonObject | null {
  const driven = drivenNode(state, workflow, call.nodeId);
  if (driven === null) return null;
  const { driver, context } = driven;
  return driver.about?.(context, call) ?? { inputs: driver.callInput(context, call) };
}

/** Returns the rows by which a driven node handles an answer itself. Null means that the interrupt's kind decides. */
export function drivenAnswer(
  { state, workflow }: { readonly state: RunState; readonly workflow: Workflow },
  interrupt: InterruptView,
  sent: SentAnswer,
): readonly Draft[] | null {
  const driven = drivenNode(state, workflow, interrupt.nodeId);
  return driven?.driver.answer?.(driven.context, interrupt, sent) ?? null;
}

/** Returns the rows that cancel a call that waits for input, or null if no driven node has such a call. */
export function drivenCancel(
  state: RunState,
  workflow: Workflow,
  callId: string,
  cancel: CallCancel,
): readonly Draft[] | null {
  for (const nodeId in state.inner) {
    const driven = drivenNode(state, workflow, nodeId);
    const rows = driven?.driver.cancelled?.(driven.context, callId, cancel) ?? null;
    if (rows !== null) return rows;
  }
  return null;
}

/** Returns true if the run still waits for this attempt. Results of calls under human review do not count. */
export const isAwaited = (state: RunState, call: OpenCall | undefined, attempt: number): call is OpenCall =>
  call !== undefined && call.attempt === attempt && call.asked === undefined && !state.ended;

/** Returns the rows that a driven node records for a call's result, or null for the call of a step. */
export function drivenResult(
  state: RunState,
  workflow: Workflow,
  { callId, attempt, result, now }: { callId: string; attempt: number; result: CallResult; now: number },
): readonly Draft[] | null {
  const call = state.calls.get(callId);
  if (call === undefined || call.routes !== undefined || state.inner[call.nodeId] === undefined) return null;
  if (!isAwaited(state, call, attempt)) return [];
  const context = activeContext(state, nodeById(workflow, call.nodeId), workflow);
  return closingRows({ ...context, now }, call, { result, cause: call.requestedSeq });
}
