/**
 * Fails a node whose open work has no result in the record: a replay performs no effect and asks no question. A question that
 * was put to an agent goes on to people, whose answer may be recorded.
 */
import type { RunId } from '@cairn/protocol';
import { forwarded } from '../coordination/routing.ts';
import { unanswered } from '../core/decide.ts';
import { stoppedRows } from '../core/driven.ts';
import { activeContext, failNode } from '../core/node-decisions.ts';
import { nodeById } from '../core/node-of.ts';
import type { Draft, RunError, RunState } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { RecordedWork } from './recorded-work.ts';

/** Open work of a node, in words. */
interface OpenWork {
  readonly nodeId: string;
  readonly what: string;
  /** The question, if the work is a call that puts it to an agent. */
  readonly routes?: string;
}

/** Returns the first open work without a record, or null. */
export function unrecorded(state: RunState, work: RecordedWork): OpenWork | null {
  for (const [callId, call] of state.calls) {
    if (call.asked !== undefined || work.hasResult(callId, call.attempt)) continue;
    const { nodeId, routes } = call;
    return { nodeId, what: `result of the call ${callId}`, ...(routes === undefined ? {} : { routes }) };
  }
  for (const child of Object.values(state.children)) {
    const isWaiting = state.active[child.nodeId] !== undefined && !work.has('child', child.runId);
    if (isWaiting) return { nodeId: child.nodeId, what: `end of the child run ${child.runId}` };
  }
  for (const { interruptId, nodeId } of Object.values(state.view.interrupts)) {
    const isWaiting = state.active[nodeId] !== undefined && !work.has('answer', interruptId);
    if (isWaiting) return { nodeId, what: `answer to the interrupt ${interruptId}` };
  }
  return null;
}

export function failWithoutRecord(
  { state, workflow }: { readonly state: RunState; readonly workflow: Workflow },
  { nodeId, what, routes }: OpenWork,
  sourceRunId: RunId,
): readonly Draft[] {
  const cause = state.nextSeq - 1;
  if (routes !== undefined) return [forwarded(routes, cause)];
  const node = nodeById(workflow, nodeId);
  const error: RunError = {
    code: 'replay_source_missing',
    message: `The record of run ${sourceRunId} has no ${what} of node ${nodeId}, and a replay performs nothing.`,
    retryable: false,
  };
  return [
    ...unanswered(state, nodeId, cause),
    ...stoppedRows(state, workflow, nodeId, cause),
    ...failNode(activeContext(state, node, workflow), error, cause),
  ];
}
