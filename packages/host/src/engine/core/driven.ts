/** Driven nodes: asks their drivers what follows, and turns that into rows and calls. */
import type { JsonObject } from '@cairn/protocol';
import type { CallResult, DrivenContext, NodeContext, NodeDriver } from '../workflow/node-type.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import { activeContext, perform, withCause } from './node-decisions.ts';
import type { Decision, Draft, OpenCall, RunState } from './state.ts';

/** What follows for the first driven node that has something to do; null when all of them wait. */
export function driveNodes(state: RunState, workflow: Workflow): Decision | null {
  for (const nodeId in state.inner) {
    const context = drivenContext(state, workflow, nodeId);
    const { driver } = context.compiled.type;
    // Errors that say what they are fail the node; a driver that breaks in another way stops the run.
    let isWaiting = false;
    const act = () => {
      const action = (driver as NodeDriver).next(context);
      isWaiting = action === null;
      return action ?? { kind: 'wait' as const, drafts: [] };
    };
    const decision = perform(context, act, state.nextSeq - 1);
    if (!isWaiting) return decision;
  }
  return null;
}

function drivenContext(state: RunState, workflow: Workflow, nodeId: string): DrivenContext {
  const node = workflow.nodes.get(nodeId) as CompiledNode;
  return withInner(activeContext(state, node, workflow.agents));
}

const withInner = (context: NodeContext): DrivenContext => ({
  ...context,
  inner: context.state.inner[context.compiled.id] as object,
});

/** The next attempt of a call, for a cause of its own or because of its request. */
export function askAgain(context: NodeContext, call: OpenCall, cause: number): Decision {
  const driver = context.compiled.type.driver as NodeDriver;
  const drafts = withCause(driver.again(withInner(context), call), cause);
  return { drafts, effects: [{ kind: 'step', callId: call.callId }] };
}

/** The rows by which a call is over: with what its performer gave, or with what a human says of it. */
export function closeDriven(context: NodeContext, call: OpenCall, result: CallResult, cause: number): readonly Draft[] {
  const driver = context.compiled.type.driver as NodeDriver;
  return withCause(driver.returned(withInner(context), call, result), cause);
}

/** What a driven node closes before it is ended from outside; nothing for others. */
export function stoppedRows(state: RunState, workflow: Workflow, nodeId: string, cause: number): readonly Draft[] {
  if (state.inner[nodeId] === undefined) return [];
  const context = drivenContext(state, workflow, nodeId);
  return withCause(context.compiled.type.driver?.stopped?.(context) ?? [], cause);
}

/** Whether the node has changed something outside, or waits for a call of which nobody knows how far it has come. */
export function hasWritten(state: Readonly<RunState>, { id: nodeId, type }: CompiledNode): boolean {
  const inner = state.inner[nodeId];
  if (inner === undefined) return false;
  if (type.driver?.hasWritten?.(inner) === true) return true;
  return Object.values(state.calls).some((call) => call.nodeId === nodeId && call.safety === 'write');
}

/** What a driven node's call is performed with; null for the call of a step. */
export function drivenInput(state: RunState, workflow: Workflow, call: OpenCall): JsonObject | null {
  const driver = workflow.nodes.get(call.nodeId)?.type.driver;
  return driver === undefined ? null : driver.callInput(drivenContext(state, workflow, call.nodeId), call);
}

/** What a person who is asked about a call has to know. */
export function aboutDriven(state: RunState, workflow: Workflow, call: OpenCall): JsonObject | null {
  const driver = workflow.nodes.get(call.nodeId)?.type.driver;
  if (driver === undefined) return null;
  const context = drivenContext(state, workflow, call.nodeId);
  return driver.about?.(context, call) ?? { inputs: driver.callInput(context, call) };
}

/** A driven node's call counts only for the attempt the run waits for, and while no human was asked about it. */
export const isAwaited = (state: RunState, call: OpenCall | undefined, attempt: number): call is OpenCall =>
  call !== undefined && call.attempt === attempt && call.asked === undefined && !state.ended;

/** The result of a call, as its node has it recorded; null for the call of a step. */
export function drivenResult(
  state: RunState,
  workflow: Workflow,
  { callId, attempt, result, now }: { callId: string; attempt: number; result: CallResult; now: number },
): readonly Draft[] | null {
  const call = state.calls[callId];
  const node = call === undefined ? undefined : workflow.nodes.get(call.nodeId);
  if (call === undefined || node?.type.driver === undefined) return null;
  if (!isAwaited(state, call, attempt)) return [];
  return closeDriven({ ...activeContext(state, node, workflow.agents), now }, call, result, call.requestedSeq);
}
