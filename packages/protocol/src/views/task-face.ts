/** The task face of a row: the body of the task event that represents it. */

import type { PayloadOf } from '../events/catalogue.ts';
import type { EventOf, FoldEvent, KnownEvent } from '../events/event.ts';
import { MAX_ID_LENGTH } from '../ids.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { largeValueText } from '../large-values.ts';
import { own } from './dictionary.ts';
import type { NodeView } from './nodes.ts';
import type { RunView } from './run-view.ts';
import { acting, agentFace } from './task-agents.ts';
import { artifactFace } from './task-artifacts.ts';
import { type ErrorInfo, errorInfo, failureText } from './task-errors.ts';
import { answered, asked, HOST_AGENT } from './task-questions.ts';
import { restartFace, statusFace } from './task-status.ts';
import { subtaskFace } from './task-subtasks.ts';

/**
 * Returns the body without the fields that a frame adds from the row's columns, or null if the task view omits the row.
 * Call it after `foldRun` has folded the same event.
 */
export function taskFace(view: RunView, event: FoldEvent): JsonObject | null {
  const body = bodyOf(view, event);
  if (body === null || body.agentId !== undefined || isUnsigned.has(body.kind)) return body;
  return { ...body, agentId: isOfTask.has(body.kind) ? taskAgent(view) : nodeAgent(view, event) };
}

/** Who acts for the task: the agent that acted last, the one that it is for, or the host. */
const taskAgent = ({ agent, actsAs }: RunView): string => agent?.agentId ?? actsAs ?? HOST_AGENT;

/** The work of a node without an agent is the host's own. */
function nodeAgent(view: RunView, event: FoldEvent): string {
  if (event.nodeId === undefined) return taskAgent(view);
  return own(view.nodeStates, event.nodeId)?.agentId ?? HOST_AGENT;
}

const isOfTask: ReadonlySet<unknown> = new Set(['task-created', 'task-status', 'task-complete']);

/** In these the field means something else: the agent that answered, and the one that the subtask is for. */
const isUnsigned: ReadonlySet<unknown> = new Set(['input-received', 'subtask-created']);

function bodyOf(view: RunView, event: FoldEvent): JsonObject | null {
  switch (event.type) {
    case 'output.chunk':
      return agentFace(view, event);
    // The last row of the block shows the whole text.
    case 'agent.reasoning.delta':
      return null;
    case 'node.started':
      return nodeStart(view, event);
    case 'node.completed':
    case 'node.failed':
      return nodeEnd(view, event);
    case 'node.skipped':
    case 'node.cancelled':
      return nodeEnd(view, event, event.payload.reason);
    case 'node.retried':
      return retryError(view, event);
    case 'run.started':
      return taskCreated(view, event.payload);
    case 'cairn.task.status':
    case 'node.resumed':
      return view.taskStatusSeq === event.seq ? statusFace(view) : null;
    case 'node.suspended':
      if (view.taskStatusSeq !== event.seq) return null;
      return statusFace(view, event.payload.interruptId);
    case 'interrupt.requested':
      return asked(view, event);
    case 'interrupt.resolved':
      return answered(view, event);
    case 'cap.breached':
      return capError(event.payload);
    case 'cairn.run.forked':
      return retried(view, event.payload);
    case 'run.completed':
      return taskComplete(view);
    case 'run.failed':
      return taskFailed(view);
    case 'run.cancelled':
      return taskCanceled(event.payload);
    case 'run.paused':
    case 'run.resumed':
      return pauseStatus(view, event.type === 'run.paused' ? 'paused' : 'resumed');
    case 'cairn.step.requested':
      return subtaskFace(view, event) ?? restartFace(view, event.payload, event.seq);
    case 'cairn.step.returned':
    case 'node.dispatched':
      return subtaskFace(view, event);
    case 'cairn.input.forwarded':
      return { kind: 'input-forwarded', inputId: event.payload.inputId, metadata: { forwardedTo: 'user' } };
    case 'cairn.internal.thought':
      return { kind: 'internal:thought-process', ...event.payload, ...acting(view, event) };
    case 'cairn.internal.llm_call':
      return { kind: 'internal:llm-call', ...event.payload, ...acting(view, event) };
    case 'cairn.internal.checkpoint':
      return { kind: 'internal:checkpoint', ...event.payload, ...acting(view, event) };
    case 'cairn.artifact.chunk':
    case 'cairn.artifact.rows':
    case 'artifact.created':
      return artifactFace(event);
    default:
      return agentFace(view, event);
  }
}

function taskCreated({ parentRunId, inputs, actsAs }: RunView, started: PayloadOf<'run.started'>): JsonObject {
  const message = inputs === null ? undefined : own(inputs, 'message');
  const model = started.actsAs?.model;
  const metadata = {
    ...(actsAs !== undefined && { agentId: actsAs }),
    ...(model !== undefined && { model }),
    ...(started.retryOf !== undefined && { retryOf: started.retryOf }),
    ...(typeof message === 'string' && { message: { role: 'user', content: message, ...messageIdOf(started) } }),
    ...(typeof started.metadata?.retryOf === 'string' && { retryOf: started.metadata.retryOf }),
    ...(started.parentToolCallId !== undefined && { toolCallId: started.parentToolCallId }),
  };
  return {
    kind: 'task-created',
    initiator: parentRunId === null ? 'user' : 'agent',
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The id that the sender of the message gave it, in a protocol that has one. Callers may write this metadata themselves. */
function messageIdOf({ metadata }: PayloadOf<'run.started'>): { readonly messageId?: string } {
  const { messageId } = isJsonObject(metadata?.a2a) ? metadata.a2a : {};
  return typeof messageId === 'string' && messageId.length <= MAX_ID_LENGTH ? { messageId } : {};
}

/** A retry shares the events before the failed node with the task that it does again, so it says here which that is. */
function retried(view: RunView, { retryOf }: PayloadOf<'cairn.run.forked'>): JsonObject | null {
  if (retryOf === undefined || view.taskStatus === null) return null;
  const shown = statusFace(view);
  return { ...shown, metadata: { ...shown.metadata, reason: 'retried', retryOf } };
}

/** A node row names its node in its column and in its payload. A log from another host may omit either. */
type NodeEvent = Extract<KnownEvent, { readonly payload: { readonly nodeId: string } }>;

const nodeOf = (view: RunView, event: NodeEvent): NodeView | undefined =>
  own(view.nodeStates, event.nodeId ?? event.payload.nodeId ?? '');

/**
 * A visit of a node appears as one tool call, whatever its attempts. An agent node changes the task status instead. The
 * faces of its start and end name their agent themselves: they are the most frequent, and are not copied for it.
 */
function nodeStart(view: RunView, event: EventOf<'node.started'>): JsonObject | null {
  const node = nodeOf(view, event);
  if (node === undefined || node.visitSeq !== event.seq) return null;
  if (node.isAgent) return view.taskStatusSeq === event.seq ? statusFace(view) : null;
  const { inputs } = event.payload;
  return {
    kind: 'tool-start',
    toolCallId: node.toolCallId,
    toolName: node.typeId,
    arguments: inputs ?? {},
    metadata: { provider: 'workflow' },
    agentId: nodeAgent(view, event),
  };
}

/** Completes the visit's tool call. A node that never started has none; its failure appears as a task error. */
function nodeEnd(view: RunView, event: NodeEvent, reason?: string): JsonObject | null {
  const node = nodeOf(view, event);
  if (node === undefined || node.isAgent) return null;
  if (node.toolCallId === null) {
    return node.error === null ? null : { kind: 'error', ...errorInfo(node.error), scope: 'task' };
  }
  const metadata: { provider: string; duration?: number; retries?: number } = { provider: 'workflow' };
  if (node.visitedAt !== null) metadata.duration = event.at - node.visitedAt;
  if (node.attempt > 0) metadata.retries = node.attempt;
  const { toolCallId, typeId: toolName } = node;
  const agentId = nodeAgent(view, event);
  if (node.status === 'completed') {
    return {
      kind: 'tool-complete',
      toolCallId,
      toolName,
      success: true,
      result: node.outputs ?? {},
      metadata,
      agentId,
    };
  }
  const info = node.error === null ? stopped(node, reason) : errorInfo(node.error, 'tool');
  const error = node.status === 'skipped' ? info.message : failureText(info);
  return { kind: 'tool-complete', toolCallId, toolName, success: false, error, errorInfo: info, metadata, agentId };
}

/** The error of a node that was skipped or cancelled. */
const stopped = (node: NodeView, reason = `The node was ${node.status}.`): ErrorInfo => ({
  code: 'tool_canceled',
  message: reason,
  retryable: false,
});

function retryError(view: RunView, event: EventOf<'node.retried'>): JsonObject {
  const { attempt, delayMs, lastError } = event.payload;
  const node = nodeOf(view, event);
  const scope = node?.isAgent ? 'llm' : 'tool';
  return {
    kind: 'error',
    ...errorInfo(lastError ?? { code: 'tool_failed', message: 'The attempt failed.' }, scope),
    retryable: true,
    scope,
    ...(node?.toolCallId != null && { refId: node.toolCallId }),
    attempt,
    ...(delayMs !== undefined && { retryAfterMs: delayMs }),
  };
}

function pauseStatus(view: RunView, reason: 'paused' | 'resumed'): JsonObject | null {
  if (view.taskStatus === null) return null;
  const shown = statusFace(view);
  return { ...shown, metadata: { ...shown.metadata, reason } };
}

function taskComplete(view: RunView): JsonObject {
  const { outputs, startedAt, endedAt, usage, artifactIds, waitedMs, gapMs } = view;
  const stated = outputs === null ? undefined : own(outputs, 'content');
  const content = stated === undefined ? undefined : (largeValueText(stated) ?? stated);
  return {
    kind: 'task-complete',
    ...(typeof content === 'string' && { content }),
    ...(artifactIds.length > 0 && { artifacts: [...artifactIds] }),
    metadata: {
      ...(startedAt !== null &&
        endedAt !== null && {
          duration: endedAt - startedAt,
          activeMs: Math.max(0, endedAt - startedAt - waitedMs - (gapMs ?? 0)),
        }),
      ...(usage.calls > 0 && { iterations: usage.calls, tokensUsed: usage.totalTokens }),
    },
  };
}

function taskFailed(view: RunView): JsonObject {
  const error = view.error === null ? null : errorInfo(view.error);
  return {
    kind: 'task-status',
    status: 'failed',
    ...(error !== null && { message: error.message, metadata: { reason: error.code }, error }),
  };
}

function taskCanceled({ reason, parentRunId }: PayloadOf<'run.cancelled'>): JsonObject {
  const [code, message] = parentRunId === undefined ? ['canceled_by_user', reason] : ['canceled_by_parent'];
  return {
    kind: 'task-status',
    status: 'canceled',
    ...(message !== undefined && { message }),
    metadata: { reason: code },
  };
}

const capCodes: Readonly<Record<string, string>> = {
  'run-duration': 'deadline_exceeded',
  'budget-tokens': 'budget_exceeded',
  'budget-cost': 'budget_exceeded',
  'budget-tool-calls': 'budget_exceeded',
  'budget-retries': 'budget_exceeded',
};

function capError({ kind, limit, observed }: PayloadOf<'cap.breached'>): JsonObject | null {
  // Not errors: the operator allows such decisions, and an agent goes on without an answer.
  if (kind === 'confidence-escalation-suppressed' || kind === 'clarification') return null;
  return {
    kind: 'error',
    code: own(capCodes, kind) ?? 'iteration_limit',
    message: `The limit ${kind} of ${limit} was exceeded (${observed}).`,
    retryable: false,
    scope: 'task',
    details: { kind, limit, observed },
  };
}
