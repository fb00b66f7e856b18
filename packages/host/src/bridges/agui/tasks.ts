/** The life of the tasks of a run: subtasks are subagents, and the root task ends the run or lets it wait. */
import { type Event as AguiEvent, EventType, type RunFinishedOutcome } from '@ag-ui/core';
import { isBelowTask, noteParent, type TaskEvent, type TaskEventOf } from '@cairn/protocol';
import { dropTexts } from './content.ts';
import { clientCallOf, idOf, interruptOf, openForUser } from './questions.ts';
import { type RunEnd, type RunState, stamp } from './run-state.ts';

interface Actor {
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  readonly timestamp: string;
  readonly agentId?: string | undefined;
}

/** Starts the subagent of an event, and those above it first. */
export function subagentsFor(state: RunState, actor: Actor): readonly AguiEvent[] {
  const { run, parents, subagents, ended, announced } = state;
  const { taskId, agentId, timestamp } = actor;
  if (taskId === run.taskId || subagents.has(taskId) || ended.has(taskId)) return [];
  noteParent(parents, actor);
  const parentId = parents.get(taskId) ?? run.taskId;
  // Only events of the run's tree come here, so that every other parent is below its root, even one that was not seen.
  const above = parentId === run.taskId ? [] : subagentsFor(state, { taskId: parentId, timestamp });
  const said = announced.get(taskId);
  const started: Extract<AguiEvent, { type: 'SUBAGENT_STARTED' }> = {
    type: EventType.SUBAGENT_STARTED,
    subagentRunId: taskId,
    name: agentId ?? said?.agentId ?? taskId,
    ...(said !== undefined && { description: said.prompt }),
    // A later run knows only those that are open.
    ...(subagents.has(parentId) && { parentSubagentRunId: parentId }),
    ...(said?.toolCallId !== undefined && state.calls.has(said.toolCallId) && { parentToolCallId: said.toolCallId }),
    timestamp: Date.parse(timestamp),
  };
  subagents.set(taskId, started);
  return [...above, started];
}

export function taskStatus(state: RunState, event: TaskEventOf<'task-status'>): readonly AguiEvent[] {
  const { taskId, status } = event;
  if (status !== 'failed' && status !== 'canceled') {
    // `task-complete` follows a completed status, and is the end.
    if (status !== 'completed') state.statuses.set(taskId, status);
    return [];
  }
  const dropped = taskOver(state, event);
  const message = event.error?.message ?? event.message ?? event.metadata?.reason ?? `The task was ${status}.`;
  const code = event.error?.code ?? status;
  if (taskId !== state.run.taskId) {
    return [...dropped, ...subagentOver(state, taskId, { type: EventType.SUBAGENT_ERROR, message, code })];
  }
  const usage = usageOf(state);
  return status === 'failed'
    ? [...dropped, ...closed(state, event, { type: EventType.RUN_ERROR, message, code, ...usage })]
    : [...dropped, ...closed(state, event, finished(state, { type: 'cancelled' }))];
}

export function taskComplete(state: RunState, event: TaskEventOf<'task-complete'>): readonly AguiEvent[] {
  const { taskId, content, artifacts } = event;
  const dropped = taskOver(state, event);
  const result = { ...(content !== undefined && { content }), ...(artifacts !== undefined && { artifacts }) };
  if (taskId !== state.run.taskId) {
    const finish = { type: EventType.SUBAGENT_FINISHED, result, outcome: { type: 'success' } } as const;
    return [...dropped, ...subagentOver(state, taskId, finish)];
  }
  return [...dropped, ...closed(state, event, finished(state, { type: 'success' }, result))];
}

/** Nothing of a task that is over waits any more. */
function taskOver(state: RunState, event: TaskEvent): readonly AguiEvent[] {
  const { taskId } = event;
  state.statuses.delete(taskId);
  for (const [id, { asked }] of state.questions) if (asked.taskId === taskId) state.questions.delete(id);
  for (const [id, of] of state.openCalls) if (of === taskId) state.openCalls.delete(id);
  for (const [id, artifact] of state.artifacts) if (artifact.taskId === taskId) state.artifacts.delete(id);
  return [...dropTexts(state, event), ...closeSteps(state, taskId, event.timestamp)];
}

type SubagentEnd =
  | Omit<Extract<AguiEvent, { type: 'SUBAGENT_FINISHED' }>, 'subagentRunId'>
  | Omit<Extract<AguiEvent, { type: 'SUBAGENT_ERROR' }>, 'subagentRunId'>;

function subagentOver(state: RunState, subagentRunId: string, end: SubagentEnd): readonly AguiEvent[] {
  if (!state.subagents.delete(subagentRunId)) return [];
  state.ended.add(subagentRunId);
  return [{ ...end, subagentRunId }];
}

function closeSteps(state: RunState, taskId: string | null, timestamp: string): readonly AguiEvent[] {
  const open = [...state.steps].filter(([, step]) => taskId === null || step.taskId === taskId);
  return open.map(([toolCallId, step]): AguiEvent => {
    state.steps.delete(toolCallId);
    const shown = stamp(state, { taskId: step.taskId, timestamp });
    return { type: EventType.STEP_FINISHED, stepName: step.stepName, metadata: { toolCallId }, ...shown };
  });
}

/**
 * Ends the run when its tasks wait, all of them, for the user: AG-UI has no way to answer a run that goes on. While one
 * task or one call works, the questions of the others can wait.
 */
export function waiting(state: RunState, event: TaskEvent): readonly AguiEvent[] {
  const { run, statuses } = state;
  if (state.end !== null || !statuses.has(run.taskId)) return [];
  for (const status of statuses.values()) if (!status.startsWith('waiting')) return [];
  const open = openForUser(state);
  if (open.length === 0 || hasCallAtWork(state)) return [];
  const calls = open.flatMap((question) => clientCallOf(state, question) ?? []);
  const outcome: RunFinishedOutcome =
    calls.length === open.length
      ? { type: 'success', pendingToolCallIds: calls }
      : {
          type: 'interrupt',
          interrupts: open.map((question) => interruptOf(state, question)),
        };
  return closed(state, event, finished(state, outcome));
}

/**
 * A call that asked something does not work until it is answered. A question that names no call may be about one, such as
 * what to do with a call that a crash cut: then the status of its task decides alone.
 */
function hasCallAtWork({ openCalls, questions }: RunState): boolean {
  const asked = [...questions.values()].map((question) => question.asked);
  const asking = new Set(asked.map(({ toolCallId, taskId }) => toolCallId ?? taskId));
  for (const [toolCallId, taskId] of openCalls) if (!asking.has(toolCallId) && !asking.has(taskId)) return true;
  return false;
}

function finished(state: RunState, outcome: RunFinishedOutcome, result?: object): RunEnd {
  const { threadId, runId } = state.run;
  return {
    type: EventType.RUN_FINISHED,
    threadId,
    runId,
    ...(result !== undefined && { result }),
    outcome,
    ...usageOf(state),
  };
}

const usageOf = ({ usage }: RunState) => (usage.size === 0 ? {} : { usage: [...usage.values()] });

/** Everything that is open closes before the last event. Subagents may go on in a later run, the last one closes first. */
function closed(state: RunState, event: TaskEvent, end: RunEnd): readonly AguiEvent[] {
  const { timestamp } = event;
  const shown = { timestamp: Date.parse(timestamp) };
  const texts = [...state.texts.values()].flatMap((taskId) => dropTexts(state, { taskId, timestamp }));
  const steps = closeSteps(state, null, timestamp);
  const { parents } = state;
  const open = [...state.subagents.keys()].reverse();
  const subagents = open.flatMap((subagentRunId) => {
    const interruptIds = openForUser(state)
      .filter(({ asked: { taskId } }) => taskId === subagentRunId || isBelowTask(parents, taskId, subagentRunId))
      .map(({ asked }) => idOf(asked));
    const outcome = { type: 'suspended', ...(interruptIds.length > 0 && { interruptIds }) } as const;
    return subagentOver(state, subagentRunId, { type: EventType.SUBAGENT_FINISHED, outcome, ...shown });
  });
  state.end = { ...end, ...shown };
  return [...texts, ...steps, ...subagents, state.end];
}
