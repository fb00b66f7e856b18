/** What agents say, think and call. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import { MAX_CHARS } from './bounds.ts';
import type { Draft } from './draft.ts';
import type { Message, ToolState } from './state.ts';

export function foldTalk(draft: Draft, event: TaskEvent): void {
  switch (event.kind) {
    case 'content-delta':
      added(draft, event);
      break;
    case 'content-complete':
      completed(draft, event);
      break;
    case 'tool-start': {
      const { toolName, arguments: given, metadata } = event;
      const isCancelable = metadata?.cancelable === true;
      called(draft, event, { toolName, arguments: given, status: 'running', isCancelable, error: null });
      break;
    }
    case 'tool-progress':
      called(draft, event, { progress: event });
      break;
    case 'tool-complete': {
      const { toolName, success, result, error = null } = event;
      called(draft, event, { toolName, status: success ? 'succeeded' : 'failed', result, error });
      break;
    }
    case 'thought-stream': {
      const { taskId, thoughtId, thoughtType, verbosity, content, metadata } = event;
      const thought = { taskId, thoughtId, thoughtType, verbosity, content, ...(metadata && { metadata }) };
      draft.show(event, 'thoughts', thoughtId, thought);
      break;
    }
  }
}

const saidBy = ({ taskId, agentId }: TaskEvent) => ({ role: 'agent' as const, taskId, agentId: agentId ?? null });

function added(draft: Draft, event: TaskEventOf<'content-delta'>): void {
  const id = blockOf(draft, event);
  // A block that begins again replaces what there was of it.
  const before = event.index === 0 ? undefined : draft.get('messages', id);
  const text = before?.text ?? '';
  // Filled to the bound, so that no later piece fits behind one that is missing.
  const room = MAX_CHARS - text.length;
  draft.show(event, 'messages', id, {
    ...saidBy(event),
    text: text + (room < event.delta.length ? event.delta.slice(0, room) : event.delta),
    isOpen: true,
    isPartial: room < event.delta.length || (before?.isPartial ?? event.index > 0),
    artifactId: null,
  });
  const task = draft.task(event);
  if (!task.openMessages.includes(id)) draft.change(task, { openMessages: [...task.openMessages, id] });
}

function completed(draft: Draft, event: TaskEventOf<'content-complete'>): void {
  const id = blockOf(draft, event);
  const text = wholeText(draft.get('messages', id), event);
  draft.show(event, 'messages', id, { ...saidBy(event), ...text, isOpen: false, artifactId: heldBy(event) });
  const task = draft.task(event);
  if (task.openMessages.length === 0) return;
  draft.change(task, { openMessages: task.openMessages.filter((open) => open !== id) });
}

/** The end of a long text has only its beginning. The pieces before it may have had more. */
function wholeText(before: Message | undefined, { content, metadata }: TaskEventOf<'content-complete'>) {
  if (metadata?.truncated !== true) return { text: content, isPartial: false };
  // The cut may have split its last character.
  if (before?.text.startsWith(content.slice(0, -1))) return { text: before.text, isPartial: before.isPartial };
  return { text: content, isPartial: true };
}

const heldBy = ({ metadata }: TaskEventOf<'content-complete'>): string | null => metadata?.artifact?.artifactId ?? null;

/** The id of a block. Hosts may leave it out; a task then has at most one open block. */
const blockOf = (draft: Draft, event: TaskEventOf<'content-delta' | 'content-complete'>): string =>
  event.contentId ?? draft.task(event).openMessages.at(-1) ?? `${event.taskId}:${event.cursor}`;

type ToolEvent = TaskEventOf<'tool-start' | 'tool-progress' | 'tool-complete'>;

function called(draft: Draft, event: ToolEvent, changes: Partial<ToolState>): void {
  const { toolCallId, taskId } = event;
  const known = draft.get('tools', toolCallId) ?? { ...newTool, toolCallId, taskId };
  draft.show(event, 'tools', toolCallId, { ...known, ...changes });
}

const newTool: Omit<ToolState, 'toolCallId' | 'taskId'> = {
  toolName: null,
  arguments: null,
  status: 'running',
  isCancelable: false,
  progress: null,
  result: undefined,
  error: null,
};
