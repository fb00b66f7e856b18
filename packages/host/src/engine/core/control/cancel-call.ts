/** Cancels one tool call of a run: the rows that close it. The rest of the run goes on. */
import { type Json, type RunView, row, TerminalError } from '@cairn/protocol';
import type { Workflow } from '../../workflow/workflow.ts';
import { closingRows, drivenCancel } from '../driven.ts';
import { callReturned } from '../facts.ts';
import { canceledDraft } from '../interrupts.ts';
import { activeContext } from '../node-decisions.ts';
import { nodeById } from '../node-of.ts';
import type { Draft, OpenCall, RunError, RunState } from '../state.ts';
import type { CallCancel } from './call-cancel.ts';

interface CanceledRun {
  readonly state: RunState;
  readonly workflow: Workflow;
}

/** Throws `conflict` for a call that has ended, or that cannot end without its task. */
export function callCanceled(run: CanceledRun, callId: string, cancel: CallCancel): readonly Draft[] {
  const { state, workflow } = run;
  if (state.ended || state.cancel !== null) throw hasEnded(callId);
  const call = state.calls.get(callId);
  if (call !== undefined && isToolCall(state.view, call)) return openCallCanceled(run, call, cancel);
  const waiting = drivenCancel(state, workflow, callId, cancel);
  if (waiting !== null) return waiting;
  const isNode = Object.values(state.view.nodeStates).some((node) => node.active && node.toolCallId === callId);
  throw isNode ? notAlone(callId) : hasEnded(callId);
}

/** Model calls and child runs are calls as well, but no tools. */
const isToolCall = ({ toolCalls, nodeStates }: RunView, { callId, nodeId }: OpenCall): boolean =>
  Object.hasOwn(toolCalls, callId) || nodeStates[nodeId]?.toolCallId === callId;

/** A person may have been asked whether the call was carried out. That question ends with it. */
function openCallCanceled({ state, workflow }: CanceledRun, call: OpenCall, cancel: CallCancel): readonly Draft[] {
  const { callId, nodeId, asked: interruptId, requestedSeq: cause } = call;
  const { at, by, reason } = cancel;
  const error = cancelError(reason);
  if (interruptId === undefined) return callReturned(callId, call.attempt, { error }).propose(state, at, workflow);
  const context = { ...activeContext(state, nodeById(workflow, nodeId), workflow), now: at };
  const closing = closingRows(context, call, { result: { error }, cause });
  if (closing === null) throw underReview(callId, interruptId);
  const asked = state.view.interrupts[interruptId]?.seq;
  return [
    canceledDraft(state, { nodeId, interruptId, at, by, reason, cause: asked }),
    row('node.resumed', { nodeId, interruptId }, { nodeId, cause: asked }),
    ...closing,
  ];
}

export const cancelError = (reason: string | undefined): RunError => ({
  code: 'tool_canceled',
  message: reason === undefined || reason === '' ? 'The call was canceled.' : `The call was canceled: ${reason}`,
  retryable: false,
});

const conflict = (callId: string, message: string, hint: string, more: Record<string, Json> = {}): TerminalError =>
  new TerminalError('conflict', { message, hint, details: { toolCallId: callId, ...more } });

const hasEnded = (callId: string): TerminalError =>
  conflict(callId, `The tool call ${callId} has ended.`, 'Its tool-complete event says how.');

const notAlone = (callId: string): TerminalError =>
  conflict(callId, `${callId} is a node that cannot be canceled by itself.`, 'Cancel its task.');

const underReview = (callId: string, inputId: string): TerminalError =>
  conflict(callId, `A person is asked what became of the call ${callId}.`, 'Answer that input.', { inputId });
