/** What agents say, think and call. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import type { Draft } from './draft.ts';
import type { ToolState } from './state.ts';

export function foldTalk(draft: Draft, event: TaskEvent): void {
  switch (event.kind) {
    case 'content-delta':
      added(draft, event);
      break;
    case 'content-complete':
      draft.show(event, 'messages', blockOf(draft, event), {
        ...saidBy(event),
        text: event.content,
        isOpen: false,
        isPartial: false,
      });
      break;
    case 'tool-start': {
      const { toolName, arguments: given } = event;
      called(draft, event, { toolName, arguments: given, status: 'running', error: null });
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
  const known = draft.get('messages', id);
  // A block that begins again replaces what there was of it.
  const before = event.index === 0 ? undefined : known;
  draft.show(event, 'messages', id, {
    ...saidBy(event),
    text: (before?.text ?? '') + event.delta,
    isOpen: true,
    isPartial: before?.isPartial ?? event.index > 0,
  });
}

/** The id of a block. Hosts may leave it out; a task then has at most one open block. */
function blockOf(draft: Draft, event: TaskEventOf<'content-delta' | 'content-complete'>): string {
  if (event.contentId !== undefined) return event.contentId;
  const open = draft
    .task(event)
    .items.findLast(({ of, id }) => of === 'messages' && draft.get('messages', id)?.isOpen === true);
  return open?.id ?? `${event.taskId}:${event.cursor}`;
}

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
  progress: null,
  result: undefined,
  error: null,
};
