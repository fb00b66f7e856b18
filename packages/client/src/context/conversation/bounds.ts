/** What a state keeps at most. The log of the host has the rest. */
import type { ConversationState, TaskItem } from './state.ts';

/** Things that one task shows, and all of them together. */
export const MAX_ITEMS = 5_000;
export const MAX_ENTRIES = 20_000;

/** Characters of a text, and rows of a dataset. */
export const MAX_CHARS = 1_048_576;
export const MAX_ROWS = 10_000;

/** Whether somebody waits for it, or it may still grow. */
export function isOpen(state: ConversationState, { of, id }: TaskItem): boolean {
  switch (of) {
    case 'messages':
      return state.messages.get(id)?.isOpen === true;
    case 'tools':
      return state.tools.get(id)?.status === 'running';
    case 'questions':
      return state.questions.get(id)?.status === 'open';
    case 'signIns':
      return state.signIns.get(id)?.status === 'open';
    case 'artifacts':
      return (state.artifacts.get(id)?.open ?? null) !== null;
    case 'tasks':
      return state.tasks.get(id)?.isOver === false;
    case 'thoughts':
      return false;
  }
}
