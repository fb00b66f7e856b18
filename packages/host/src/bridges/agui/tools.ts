/** Tool calls and their results. Nodes of a workflow are steps. */
import { type Event as AguiEvent, EventType } from '@ag-ui/core';
import { clientToolNamed, type TaskEventOf } from '@cairn/protocol';
import { type RunState, stamp } from './run-state.ts';

const isStep = ({ metadata }: TaskEventOf<'tool-start'> | TaskEventOf<'tool-complete'>): boolean =>
  metadata?.provider === 'workflow';

export function toolStart(state: RunState, event: TaskEventOf<'tool-start'>): readonly AguiEvent[] {
  if (isStep(event)) return stepStart(state, event);
  const { toolCallId, toolName, taskId, metadata } = event;
  // A call that a crash repeated is the same call.
  if (state.calls.has(toolCallId)) return [];
  state.calls.add(toolCallId);
  state.openCalls.set(toolCallId, taskId);
  const ownName = clientToolNamed(toolName) ?? toolName;
  if (metadata?.provider === 'client') state.clientCalls.add(toolCallId);
  const shown = stamp(state, event);
  const parentMessageId = state.callers.get(taskId);
  return [
    {
      type: EventType.TOOL_CALL_START,
      toolCallId,
      toolCallName: ownName,
      ...(parentMessageId !== undefined && { parentMessageId }),
      ...(metadata !== undefined && { metadata }),
      ...shown,
    },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(event.arguments), ...shown },
    { type: EventType.TOOL_CALL_END, toolCallId, ...shown },
  ];
}

/** A step ends with its name, so that no two open steps of a task may have the same. */
function stepStart(state: RunState, event: TaskEventOf<'tool-start'>): readonly AguiEvent[] {
  const { toolCallId, toolName, taskId } = event;
  if (state.steps.has(toolCallId)) return [];
  const isTaken = [...state.steps.values()].some((step) => step.taskId === taskId && step.stepName === toolName);
  const stepName = isTaken ? `${toolName} ${toolCallId}` : toolName;
  state.steps.set(toolCallId, { stepName, taskId });
  return [{ type: EventType.STEP_STARTED, stepName, metadata: { toolCallId }, ...stamp(state, event) }];
}

export function toolComplete(state: RunState, event: TaskEventOf<'tool-complete'>): readonly AguiEvent[] {
  const { toolCallId, success, result, error, errorInfo, metadata } = event;
  const shown = stamp(state, event);
  if (isStep(event)) {
    const step = state.steps.get(toolCallId);
    if (step === undefined) return [];
    state.steps.delete(toolCallId);
    const outcome = { toolCallId, success, ...(error !== undefined && { error }) };
    return [{ type: EventType.STEP_FINISHED, stepName: step.stepName, metadata: outcome, ...shown }];
  }
  state.openCalls.delete(toolCallId);
  for (const [id, { asked }] of state.questions) if (asked.toolCallId === toolCallId) state.questions.delete(id);
  if (state.run.knownResults?.has(toolCallId) === true) return [];
  const failure = success ? {} : { success, ...(errorInfo !== undefined && { errorInfo }) };
  return [
    {
      type: EventType.TOOL_CALL_RESULT,
      messageId: `${toolCallId}:result`,
      toolCallId,
      role: 'tool',
      content: success ? asText(result) : (error ?? 'The tool failed.'),
      metadata: { ...metadata, ...failure },
      ...shown,
    },
  ];
}

const asText = (result: unknown): string => (typeof result === 'string' ? result : JSON.stringify(result ?? null));

export function toolProgress(state: RunState, event: TaskEventOf<'tool-progress'>): readonly AguiEvent[] {
  const { toolCallId, progress, message, metadata } = event;
  return [
    {
      type: EventType.ACTIVITY_SNAPSHOT,
      messageId: `${toolCallId}:progress`,
      activityType: 'cairn.tool-progress',
      content: { ...metadata, toolCallId, progress, ...(message !== undefined && { message }) },
      replace: true,
      ...stamp(state, event),
    },
  ];
}
