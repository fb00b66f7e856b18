/**
 * The AG-UI view of a task: task events in, AG-UI events out. It is pure. What it knows is a fold of the events that it
 * took, so that a view that took the earlier events without showing them can go on in the middle.
 */
import { type Event as AguiEvent, EventType, PROTOCOL_VERSION, type TokenUsage } from '@ag-ui/core';
import { isInternalKind, type TaskEvent, type TaskEventOf } from '@cairn/protocol';
import { artifactPiece, record, stateSnapshot } from './artifacts.ts';
import { dropTexts, textComplete, textDelta, thought } from './content.ts';
import { asked, custom, forwarded } from './questions.ts';
import type { RunState } from './run-state.ts';
import { subagentsFor, taskComplete, taskStatus, waiting } from './tasks.ts';
import { toolComplete, toolProgress, toolStart } from './tools.ts';

/** Shows one event of the root task or of a task below it. `mayWait` lets the run end when all of them wait for the user. */
export function take(state: RunState, event: TaskEvent, mayWait: boolean): readonly AguiEvent[] {
  if (state.end !== null || isInternalKind(event.kind)) return [];
  const agentId = event.kind === 'task-created' ? event.metadata?.agentId : event.agentId;
  const { taskId, parentTaskId, timestamp } = event;
  const started = subagentsFor(state, { taskId, parentTaskId, timestamp, agentId });
  const shown = showed(state, event);
  return [...started, ...shown, ...(mayWait && endsWork.has(event.kind) ? waiting(state, event) : [])];
}

/** After these, a task that worked may have nothing left to do but wait. */
const endsWork: ReadonlySet<string> = new Set([
  'task-status',
  'task-complete',
  'tool-complete',
  'input-required',
  'auth-required',
  'input-forwarded',
]);

function showed(state: RunState, event: TaskEvent): readonly AguiEvent[] {
  switch (event.kind) {
    case 'task-created':
      state.statuses.set(event.taskId, 'working');
      return [];
    case 'task-status':
      return taskStatus(state, event);
    case 'task-complete':
      return taskComplete(state, event);
    case 'content-delta':
      return textDelta(state, event);
    case 'content-complete':
      return textComplete(state, event);
    case 'tool-start':
      return toolStart(state, event);
    case 'tool-progress':
      return toolProgress(state, event);
    case 'tool-complete':
      return toolComplete(state, event);
    case 'thought-stream':
      return thought(state, event);
    case 'file-write':
    case 'dataset-write':
      return artifactPiece(state, event);
    case 'data-write':
      return record(state, event);
    case 'subtask-created':
      state.announced.set(event.subtaskId, event);
      return [];
    case 'llm-usage':
      used(state, event);
      return [];
    default:
      return exchanged(state, event);
  }
}

/** Questions, sign-ins and problems. What later hosts add is shown as it is. */
function exchanged(state: RunState, event: TaskEvent): readonly AguiEvent[] {
  switch (event.kind) {
    case 'input-required':
    case 'auth-required':
      return asked(state, event);
    case 'input-forwarded':
      return forwarded(state, event);
    case 'input-received':
      state.questions.delete(event.inputId);
      return [custom(state, event)];
    case 'auth-completed':
      state.questions.delete(event.authId);
      return [custom(state, event)];
    case 'error':
      return problem(state, event);
    default:
      return [custom(state, event)];
  }
}

/** A failed model call leaves its text unfinished; a refused sign-in is over. */
function problem(state: RunState, event: TaskEventOf<'error'>): readonly AguiEvent[] {
  if (event.scope === 'auth' && event.refId !== undefined) state.questions.delete(event.refId);
  const dropped = event.scope === 'llm' ? dropTexts(state, event) : [];
  return [...dropped, custom(state, event)];
}

function used({ usage }: RunState, event: TaskEventOf<'llm-usage'>): void {
  const { model } = event;
  const before = usage.get(model);
  const sum = (name: keyof TokenUsage & keyof typeof counts): number | undefined => {
    const more = event[counts[name]];
    return more === undefined ? before?.[name] : (before?.[name] ?? 0) + more;
  };
  const total: TokenUsage = { model };
  for (const name of countNames) {
    const value = sum(name);
    if (value !== undefined) total[name] = value;
  }
  usage.set(model, total);
}

const counts = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  totalTokens: 'totalTokens',
  cachedInputTokens: 'cacheReadTokens',
  cacheWriteInputTokens: 'cacheWriteTokens',
} as const;

const countNames = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
] as const;

/** The first event of every run. */
export function runStarted({ run }: RunState): AguiEvent {
  const { threadId, runId, parentRunId } = run;
  return {
    type: EventType.RUN_STARTED,
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    ...(parentRunId !== undefined && { parentRunId }),
  };
}

/** Opens again what an earlier run left open, in the order that AG-UI asks for. */
export function reopened(state: RunState): readonly AguiEvent[] {
  const texts = [...state.texts].map(([messageId, taskId]): AguiEvent => {
    const owner = taskId === state.run.taskId ? {} : { subagentRunId: taskId };
    return { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', ...owner };
  });
  const steps = [...state.steps].map(([toolCallId, { stepName, taskId }]): AguiEvent => {
    const owner = taskId === state.run.taskId ? {} : { subagentRunId: taskId };
    return { type: EventType.STEP_STARTED, stepName, metadata: { toolCallId }, ...owner };
  });
  const records = state.records.size === 0 ? [] : [stateSnapshot(state)];
  const subagents = [...state.subagents.values()].map(({ parentSubagentRunId, ...started }): AguiEvent => {
    const isBelow = parentSubagentRunId !== undefined && state.subagents.has(parentSubagentRunId);
    return { ...started, ...(isBelow && { parentSubagentRunId }) };
  });
  return [...subagents, ...steps, ...texts, ...records];
}
