/** Tool calls that the client executes: asks for their results, checks what it sends, and records how they ended. */
import {
  CLIENT_TOOL_EVENT,
  clientToolNamed,
  type InterruptView,
  isClientCall,
  isJsonObject,
  type JsonObject,
  parseExternalAnswer,
  row,
} from '@cairn/protocol';
import { refuseProblems } from '../../../engine/core/answers/refuse-answer.ts';
import { rejectionDrafts } from '../../../engine/core/answers/rejection.ts';
import type { CallCancel } from '../../../engine/core/control/call-cancel.ts';
import { cancelError } from '../../../engine/core/control/cancel-call.ts';
import { askDrafts, canceledDraft, resolveDrafts } from '../../../engine/core/interrupts.ts';
import type { Draft } from '../../../engine/core/state.ts';
import type { SentAnswer } from '../../../engine/workflow/driven-calls.ts';
import { exceedsUtf8 } from '../../../utf8.ts';
import { clientToolsOf } from '../../tools/client-tools.ts';
import { MAX_RESULT_BYTES } from '../../tools/json-result.ts';
import type { LoopContext } from '../agent-config.ts';
import { toolReturnedRow } from '../rows.ts';
import { callsOf, openInvocation, type ToolCall, type ToolsStage } from '../state/loop-state.ts';

/**
 * All calls of the turn that wait for the client are asked for at once: it may execute them side by side. `asksPeople` says
 * that a question follows.
 */
export function clientQuestions(context: LoopContext, { calls, turn }: ToolsStage, asksPeople: boolean): Draft[] {
  const { node, config, state } = context;
  const asking = calls.filter(({ progress }) => progress.kind === 'asking' && progress.question.kind === 'client');
  if (asking.length === 0) return [];
  const timeoutMs = clientToolsOf(config)?.timeoutMs;
  return asking.flatMap(({ callId, toolId, index }, ahead) => {
    const toolName = clientToolNamed(toolId) ?? toolId;
    const correlation = { toolCallId: callId, toolName, arguments: turn.toolCalls[index]?.input ?? {} };
    const data = { eventType: CLIENT_TOOL_EVENT, correlation };
    const isFollowed = asksPeople || ahead < asking.length - 1;
    return askDrafts(state, { nodeId: node.id, kind: 'external-event', data, timeoutMs, ahead, isFollowed });
  });
}

/** The row that ends an answered call that is not entered again; null for a call that goes on with its answer. */
export function endOfAnswered(context: LoopContext, call: ToolCall): Draft | null {
  const { progress, records } = call;
  const last = records.at(-1);
  if (progress.kind !== 'answered' || last === undefined) return null;
  if (last.kind !== 'client' && progress.canceled !== true) return null;
  const { askedAt = context.now } = progress;
  const durationMs = Math.max(0, context.now - askedAt);
  return endedRow(context, call, { last, durationMs });
}

function endedRow(
  { node, inner }: LoopContext,
  { toolId, callId, attempt, calledSeq, retries }: ToolCall,
  { last, durationMs }: { readonly last: ToolCall['records'][number]; readonly durationMs: number | undefined },
): Draft {
  const { agentId } = openInvocation(inner);
  const returned = { agentId, toolId, callId, attempt, calledSeq, durationMs, retries, isUntrusted: true };
  const end = 'error' in last ? ({ error: last.error, status: 'error' } as const) : { value: last.outcome };
  return toolReturnedRow(node.id, returned, end);
}

/** Checks what a client sends as the result of its call, and takes the rejection of what a tool asks. Else null. */
export function clientAnswer(
  _context: LoopContext,
  interrupt: InterruptView,
  sent: SentAnswer,
): readonly Draft[] | null {
  if (!isClientCall(interrupt)) return rejectionDrafts(interrupt, sent);
  const { interruptId, nodeId, kind, seq: cause } = interrupt;
  const { eventPayload } = parseExternalAnswer(sent.value);
  const problem = isJsonObject(eventPayload) ? resultProblem(eventPayload) : SHAPE;
  refuseProblems(interruptId, problem === null ? [] : [problem]);
  const by = sent.principal ?? null;
  const isError = isJsonObject(eventPayload) && eventPayload.error !== undefined;
  const outcome = isError ? 'rejected' : undefined;
  const value = { eventPayload };
  return resolveDrafts({ nodeId, interruptId, kind, cause, at: sent.now, value, by, outcome }, null);
}

const SHAPE = 'the result of a tool is { "eventPayload": { "result": … } }, or { "eventPayload": { "error": "…" } }';

/** Longest error that a client may send; the model reads it. */
const MAX_ERROR_CHARACTERS = 10_000;

function resultProblem({ result, error, ...others }: JsonObject): string | null {
  if ((result === undefined) === (error === undefined) || Object.keys(others).length > 0) return SHAPE;
  if (error !== undefined) {
    const isText = typeof error === 'string' && error.trim() !== '' && error.length <= MAX_ERROR_CHARACTERS;
    return isText ? null : `an error is a text of at most ${MAX_ERROR_CHARACTERS} characters`;
  }
  return exceedsUtf8(JSON.stringify(result), MAX_RESULT_BYTES)
    ? `the result has more than ${MAX_RESULT_BYTES} bytes of JSON`
    : null;
}

/** The rows that cancel a call which waits for a person or for its client; null if the node has no such call. */
export function cancelledCall(
  context: LoopContext,
  callId: string,
  { by, reason, at }: CallCancel,
): readonly Draft[] | null {
  const { inner, node, state } = context;
  const call = inner.invocation === null ? undefined : callsOf(inner.invocation).find((one) => one.callId === callId);
  if (call === undefined || call.progress.kind === 'done' || call.progress.kind === 'open') return null;
  if (call.progress.kind !== 'asked') {
    const error = { ...cancelError(reason), retryable: false };
    return [endedRow(context, call, { last: { ordinal: 0, kind: 'client', name: '', error }, durationMs: undefined })];
  }
  const { interruptId } = call.progress;
  const nodeId = node.id;
  const cause = state.view.interrupts[interruptId]?.seq;
  return [
    canceledDraft(state, { nodeId, interruptId, at, by, reason, cause }),
    row('node.resumed', { nodeId, interruptId }, { nodeId, cause }),
  ];
}
