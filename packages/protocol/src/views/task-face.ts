/** The task face of a row: the body of the task event it shows as, by the mapping of workflow runs to task events. */
import type { FoldEvent } from '../event.ts';
import type { ErrorObject } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import { own } from './dictionary.ts';
import { type InterruptView, openWaits } from './interrupts.ts';
import type { NodeView } from './nodes.ts';
import { payloadAs } from './payload.ts';
import type { RunView } from './run-view.ts';
import { isoTime } from './snapshot.ts';

/** The agent that host work is credited to in the task view. */
const HOST_AGENT = 'core.system';

/**
 * The body without the fields a frame adds from the row's columns, or null when the task view does not show the row.
 * Call it after `foldRun` has taken the same event into the view.
 */
export function taskFace(view: RunView, event: FoldEvent): JsonObject | null {
  switch (event.type) {
    case 'node.started':
      return toolStart(view, event);
    case 'node.completed':
    case 'node.failed':
    case 'node.skipped':
    case 'node.cancelled':
      return toolComplete(view, event);
    case 'node.retried':
      return retryError(view, event);
    case 'run.started':
      return { kind: 'task-created', initiator: view.parentRunId === null ? 'user' : 'agent' };
    case 'cairn.task.status':
    case 'node.suspended':
    case 'node.resumed':
      return view.taskStatusSeq === event.seq ? taskStatus(view) : null;
    case 'interrupt.requested':
      return inputRequired(view, event);
    case 'interrupt.resolved':
      return inputReceived(view, event);
    case 'cap.breached':
      return capError(event);
    case 'run.completed':
      return taskComplete(view);
    case 'run.failed':
    case 'run.cancelled':
      return taskEnded(view, event);
    case 'run.paused':
    case 'run.resumed':
      return pauseStatus(view, event);
    default:
      return null;
  }
}

const nodeOf = (view: RunView, event: FoldEvent): NodeView | undefined =>
  own(view.nodeStates, event.nodeId ?? payloadAs<'node.started'>(event.payload).nodeId ?? '');

/** A node shows as one tool call per visit: further attempts of a visit do not start it again. */
function toolStart(view: RunView, event: FoldEvent): JsonObject | null {
  const node = nodeOf(view, event);
  if (node === undefined || node.visitSeq !== event.seq) return null;
  const { inputs } = payloadAs<'node.started'>(event.payload);
  return {
    kind: 'tool-start',
    toolCallId: node.toolCallId,
    toolName: node.typeId,
    arguments: inputs ?? {},
    metadata: { provider: 'workflow' },
  };
}

/** Closes the visit's call. A node that ended without a start has none: its failure shows as an error of the task. */
function toolComplete(view: RunView, event: FoldEvent): JsonObject | null {
  const node = nodeOf(view, event);
  if (node === undefined) return null;
  if (node.toolCallId === null) {
    return node.error === null ? null : { kind: 'error', ...errorInfo(node.error), scope: 'task' };
  }
  const call = { kind: 'tool-complete', toolCallId: node.toolCallId, toolName: node.typeId };
  const metadata = {
    provider: 'workflow',
    ...(node.visitedAt !== null && { duration: event.at - node.visitedAt }),
    ...(node.attempt > 0 && { retries: node.attempt }),
  };
  if (node.status === 'completed') return { ...call, success: true, result: node.outputs ?? {}, metadata };
  const info = node.error === null ? stopped(node, event) : errorInfo(node.error);
  return { ...call, success: false, error: info.message, errorInfo: info, metadata };
}

type ErrorInfo = { code: string; message: string; retryable: boolean; details?: JsonObject };

const errorInfo = (error: ErrorObject): ErrorInfo => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable ?? false,
  ...(error.details !== undefined && { details: error.details }),
});

/** Why a node without an error of its own did not complete. */
function stopped(node: NodeView, event: FoldEvent): ErrorInfo {
  const { reason } = payloadAs<'node.cancelled'>(event.payload);
  return { code: 'tool_canceled', message: reason ?? `The node was ${node.status}.`, retryable: false };
}

function retryError(view: RunView, event: FoldEvent): JsonObject {
  const { attempt, delayMs, lastError } = payloadAs<'node.retried'>(event.payload);
  const toolCallId = nodeOf(view, event)?.toolCallId;
  return {
    kind: 'error',
    code: lastError?.code ?? 'tool_failed',
    message: lastError?.message ?? 'The attempt failed.',
    retryable: true,
    scope: 'tool',
    ...(toolCallId != null && { refId: toolCallId }),
    attempt,
    ...(delayMs !== undefined && { retryAfterMs: delayMs }),
  };
}

function taskStatus(view: RunView): JsonObject {
  if (view.taskStatus !== 'waiting-input') return { kind: 'task-status', status: view.taskStatus };
  const pending = openWaits(view).map((interrupt) => ({ type: 'input', id: interrupt.interruptId }));
  return { kind: 'task-status', status: 'waiting-input', metadata: { blockedBy: 'user', pending } };
}

function pauseStatus(view: RunView, event: FoldEvent): JsonObject | null {
  if (view.taskStatus === null) return null;
  const reason = event.type === 'run.paused' ? 'paused' : 'resumed';
  const shown = taskStatus(view);
  return { ...shown, metadata: { ...(shown.metadata as JsonObject | undefined), reason } };
}

function taskComplete(view: RunView): JsonObject {
  const { outputs, startedAt, endedAt, usage } = view;
  const content = outputs === null ? undefined : own(outputs, 'content');
  return {
    kind: 'task-complete',
    ...(typeof content === 'string' && { content }),
    metadata: {
      ...(startedAt !== null && endedAt !== null && { duration: endedAt - startedAt }),
      ...(usage.calls > 0 && { tokensUsed: usage.totalTokens }),
    },
  };
}

function taskEnded(view: RunView, event: FoldEvent): JsonObject {
  if (event.type === 'run.failed') {
    const error = view.error === null ? null : errorInfo(view.error);
    return {
      kind: 'task-status',
      status: 'failed',
      ...(error !== null && { message: error.message, metadata: { reason: error.code }, error }),
    };
  }
  const { reason, parentRunId } = payloadAs<'run.cancelled'>(event.payload);
  const code = parentRunId === undefined ? 'canceled_by_user' : 'canceled_by_parent';
  return { kind: 'task-status', status: 'canceled', metadata: { reason: reason ?? code } };
}

const capCodes: Readonly<Record<string, string>> = {
  'run-duration': 'deadline_exceeded',
  'budget-tokens': 'budget_exceeded',
  'budget-cost': 'budget_exceeded',
  'budget-tool-calls': 'budget_exceeded',
  'budget-retries': 'budget_exceeded',
};

function capError(event: FoldEvent): JsonObject {
  const { kind, limit, observed } = payloadAs<'cap.breached'>(event.payload);
  return {
    kind: 'error',
    code: own(capCodes, kind) ?? 'iteration_limit',
    message: `The limit ${kind} of ${limit} was exceeded (${observed}).`,
    retryable: false,
    scope: 'task',
    details: { kind, limit, observed },
  };
}

function inputRequired(view: RunView, event: FoldEvent): JsonObject | null {
  const { interruptId, key } = payloadAs<'interrupt.requested'>(event.payload);
  const interrupt = own(view.interrupts, interruptId ?? key);
  if (interrupt === undefined) return null;
  const toolCallId = own(view.nodeStates, interrupt.nodeId)?.toolCallId ?? null;
  const metadata = {
    ...(interrupt.kind === 'external-event' && { toolCall: awaitedCall(interrupt, toolCallId) }),
    ...(interrupt.kind === 'low-confidence' && { reason: 'low-confidence' }),
    // Seconds: the one span of the task view that is not in milliseconds.
    ...(interrupt.timeoutMs !== null && { timeout: interrupt.timeoutMs / 1000 }),
  };
  return {
    kind: 'input-required',
    inputId: interrupt.interruptId,
    inputType: inputTypes[interrupt.kind],
    prompt: promptOf(interrupt),
    ...(interrupt.resumeSchema !== null && { schema: interrupt.resumeSchema }),
    ...(toolCallId !== null && { toolCallId }),
    ...(interrupt.expiresAt !== null && { expiresAt: isoTime(interrupt.expiresAt) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

const inputTypes: Readonly<Record<InterruptView['kind'], string>> = {
  approval: 'confirmation',
  clarification: 'clarification',
  'external-event': 'tool-execution',
  custom: 'custom',
  'conversation.start': 'clarification',
  'conversation.exchange': 'clarification',
  'conversation.close': 'clarification',
  'low-confidence': 'clarification',
};

const awaitedCall = (interrupt: InterruptView, toolCallId: string | null): JsonObject => ({
  id: toolCallId ?? interrupt.interruptId,
  function: {
    name: interrupt.data.eventType ?? 'event',
    arguments: JSON.stringify(interrupt.data.correlation ?? {}),
  },
});

/** What a person is asked, in the words of whoever asked. */
function promptOf(interrupt: InterruptView): string {
  const { data } = interrupt;
  const asked = [data.prompt, data.title, data.initialPrompt, questionsOf(data)].find(
    (words) => typeof words === 'string' && words !== '',
  );
  if (typeof asked === 'string') return asked;
  if (interrupt.kind === 'external-event') return `Waiting for the event ${String(data.eventType)}.`;
  if (interrupt.kind === 'low-confidence') return 'Confirm the decision.';
  return `Answer needed: ${String(data.customKind ?? interrupt.kind)}.`;
}

function questionsOf(data: JsonObject): string {
  if (!Array.isArray(data.questions)) return '';
  return (data.questions as readonly { question?: string }[]).map((item) => item.question ?? '').join('\n');
}

function inputReceived(view: RunView, event: FoldEvent): JsonObject {
  const { interruptId, resolvedBy, reason, resumeValue } = payloadAs<'interrupt.resolved'>(event.payload);
  const isTimeout = reason === 'timeout';
  const isRejected = (resumeValue as { action?: string } | null | undefined)?.action === 'reject';
  const askedAt = nodeOf(view, event)?.suspendedAt ?? null;
  const provider = isTimeout
    ? { providedBy: 'agent', agentId: HOST_AGENT }
    : { providedBy: 'user', userId: resolvedBy ?? view.owner?.principal ?? 'anonymous' };
  return {
    kind: 'input-received',
    inputId: interruptId,
    ...provider,
    metadata: {
      ...(askedAt !== null && { duration: event.at - askedAt }),
      outcome: isTimeout ? 'timeout' : isRejected ? 'rejected' : 'answered',
    },
  };
}
