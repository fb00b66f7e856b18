/** Questions about a state that most user interfaces ask. */
import type { ConversationState, Question, SignIn, TaskState } from './state.ts';

/** What the user is to be asked, the oldest first. */
export const openQuestions = (state: ConversationState): readonly Question[] =>
  [...state.questions.values()].filter(({ status, isForUser }) => status === 'open' && isForUser);

export const openSignIns = (state: ConversationState): readonly SignIn[] =>
  [...state.signIns.values()].filter(({ status }) => status === 'open');

/** The tasks that a task handed work to, the oldest first. */
export const subtasksOf = (state: ConversationState, taskId: string): readonly TaskState[] =>
  (state.tasks.get(taskId)?.items ?? []).flatMap(({ of, id }) => (of === 'tasks' ? (state.tasks.get(id) ?? []) : []));

/** `waiting`: for the user. */
export function conversationStatus(state: ConversationState): 'idle' | 'working' | 'waiting' {
  if (state.roots.every((id) => state.tasks.get(id)?.isOver === true)) return 'idle';
  return openQuestions(state).length + openSignIns(state).length > 0 ? 'waiting' : 'working';
}
