/** The life of tasks, their problems, and what they cost. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import type { Draft } from './draft.ts';
import type { TaskState } from './state.ts';

/** Problems that are kept for each task. */
const MAX_PROBLEMS = 100;

export function foldTask(draft: Draft, event: TaskEvent): void {
  switch (event.kind) {
    case 'task-created':
      created(draft, event);
      break;
    case 'task-status':
      changed(draft, event);
      break;
    case 'task-complete': {
      const task = draft.task(event);
      draft.change(task, { status: 'completed', pending: [], result: event.content ?? task.result });
      end(draft, event);
      break;
    }
    case 'subtask-created': {
      const { taskId: parentTaskId, subtaskId: taskId, prompt } = event;
      draft.task(parentOf(event));
      const task = draft.task({ taskId, parentTaskId, ...(event.agentId !== undefined && { agentId: event.agentId }) });
      draft.change(task, { prompt });
      break;
    }
    case 'error': {
      const task = draft.task(event);
      // Text that a model call did not finish is not part of the answer.
      if (event.scope === 'llm' || event.scope === 'task') dropOpenText(draft, task);
      const now = draft.task(event);
      draft.change(now, { problems: [...now.problems, event].slice(-MAX_PROBLEMS) });
      break;
    }
    case 'llm-usage':
      spent(draft, event);
      break;
  }
}

/** `agentId` of this kind names the subtask's agent, and not that of the task. */
const parentOf = ({ taskId, parentTaskId }: TaskEvent) => ({
  taskId,
  ...(parentTaskId !== undefined && { parentTaskId }),
});

function created(draft: Draft, event: TaskEventOf<'task-created'>): void {
  const task = draft.task(event);
  const agentId = event.metadata?.agentId ?? event.agentId ?? task.agentId;
  draft.change(task, { agentId });
  const said = event.metadata?.message;
  if (said === undefined || event.initiator !== 'user') return;
  const message = { role: 'user' as const, taskId: event.taskId, agentId: null, text: said.content };
  draft.show(event, 'messages', `${event.taskId}:message`, {
    ...message,
    isOpen: false,
    isPartial: false,
    artifactId: null,
  });
}

function changed(draft: Draft, event: TaskEventOf<'task-status'>): void {
  const { status, message = null, metadata, error } = event;
  const task = draft.task(event);
  draft.change(task, {
    status,
    statusMessage: message,
    pending: metadata?.pending ?? [],
    error: error ?? task.error,
  });
  if (status === 'failed' || status === 'canceled') end(draft, event);
  // The host begins the model call anew.
  else if (metadata?.reason === 'host_restarted') dropOpenText(draft, draft.task(event));
}

/** Nothing of a task stays open after its end. */
function end(draft: Draft, event: TaskEvent): void {
  dropOpenText(draft, draft.task(event));
  const task = draft.task(event);
  for (const { of, id } of task.items) close(draft, task.taskId, of, id);
  const over = draft.task(event);
  draft.change(over, { isOver: true });
  if (over.parentTaskId !== null) draft.settle(over.parentTaskId, over.taskId);
}

function close(draft: Draft, taskId: string, of: TaskState['items'][number]['of'], id: string): void {
  if (of === 'tools') {
    const tool = draft.get('tools', id);
    if (tool?.status === 'running') draft.set('tools', id, { ...tool, status: 'stopped' });
  } else if (of === 'questions') {
    const question = draft.get('questions', id);
    if (question?.status === 'open') draft.set('questions', id, { ...question, status: 'closed' });
  } else if (of === 'signIns') {
    const signIn = draft.get('signIns', id);
    if (signIn?.status === 'open') draft.set('signIns', id, { ...signIn, status: 'closed' });
  } else if (of === 'artifacts') {
    // A version whose task ends before it is complete never becomes current.
    const artifact = draft.get('artifacts', id);
    if (artifact?.open?.taskId === taskId) draft.set('artifacts', id, { ...artifact, open: null });
  }
}

function dropOpenText(draft: Draft, task: TaskState): void {
  const { openMessages } = task;
  if (openMessages.length === 0) return;
  for (const id of openMessages) draft.delete('messages', id);
  const items = task.items.filter(({ of, id }) => of !== 'messages' || !openMessages.includes(id));
  draft.change(task, { items, openMessages: [] });
}

function spent(draft: Draft, event: TaskEventOf<'llm-usage'>): void {
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = event;
  const task = draft.task(event);
  const { input, output, total } = task.tokens;
  draft.change(task, {
    tokens: { input: input + inputTokens, output: output + outputTokens, total: total + totalTokens },
  });
}
