/** What a task and the tasks below it ask, and what of it the caller may answer. */
import { isBelowTask, type TaskEvent, type TaskEventOf, type TaskParents } from '@cairn/protocol';
import type { A2aPart, A2aState, Data } from './update.ts';

export interface Question {
  readonly id: string;
  readonly taskId: string;
  readonly isSignIn: boolean;
  readonly interruptKind: 'approval' | 'clarification' | 'external-event';
  readonly prompt: string;
  /** What an answer refers to and looks like. */
  readonly form: Data;
  /** False while an agent above may still answer it. */
  isForCaller: boolean;
}

/** Open questions by id, oldest first. */
export type Questions = Map<string, Question>;

export const noQuestions = (): Questions => new Map();

/** Questions that one message shows. The others follow when these are answered. */
const MAX_SHOWN = 16;

/** Folds in an event that opens, forwards or closes a question; any other changes nothing. */
export function note(questions: Questions, event: TaskEvent): void {
  switch (event.kind) {
    case 'input-required':
      questions.set(event.inputId, input(event));
      break;
    case 'auth-required':
      questions.set(event.authId, signIn(event));
      break;
    case 'input-forwarded': {
      const question = questions.get(event.inputId);
      if (question !== undefined) question.isForCaller = true;
      break;
    }
    case 'input-received':
      questions.delete(event.inputId);
      break;
    case 'auth-completed':
      questions.delete(event.authId);
      break;
    // A sign-in that was not completed.
    case 'error':
      if (event.scope === 'auth' && event.refId !== undefined) questions.delete(event.refId);
      break;
    default:
  }
}

interface OpenTasks {
  readonly questions: Questions;
  readonly parents: TaskParents;
}

/** Drops the questions of a task that has ended, and of the tasks below it. */
export function forget({ questions, parents }: OpenTasks, ended: string): void {
  for (const { id, taskId } of questions.values()) {
    if (taskId === ended || isBelowTask(parents, taskId, ended)) questions.delete(id);
  }
}

export const askedOfCaller = (questions: Questions): readonly Question[] =>
  [...questions.values()].filter(({ isForCaller }) => isForCaller);

/** A sign-in comes first. Null if nothing is asked. */
export const askingState = (asked: readonly Question[]): A2aState | null =>
  asked.length === 0 ? null : asked.some(({ isSignIn }) => isSignIn) ? 'auth-required' : 'input-required';

/** Each prompt as text, followed by the form of its answer. */
export const questionParts = (asked: readonly Question[]): readonly A2aPart[] =>
  asked.slice(0, MAX_SHOWN).flatMap(({ prompt, form }) => [{ text: prompt }, { data: form }]);

function input(event: TaskEventOf<'input-required'>): Question {
  const { inputId, inputType, prompt, schema, options, requireUser, expiresAt, taskId, parentTaskId, metadata } = event;
  const toolCall = inputType === 'tool-execution' ? metadata?.toolCall : undefined;
  return {
    id: inputId,
    taskId,
    isSignIn: false,
    interruptKind:
      inputType === 'confirmation' ? 'approval' : inputType === 'tool-execution' ? 'external-event' : 'clarification',
    prompt,
    form: given({ inputId, inputType, schema, options, requireUser, expiresAt, toolCall }),
    // A root task has no task above it. The question of a subtask goes to the agent above it first.
    isForCaller: requireUser === true || parentTaskId === undefined,
  };
}

/** The caller's user signs in at the address. No credential travels over A2A. */
function signIn({
  authId,
  authType,
  provider,
  scopes,
  prompt,
  authUrl,
  infoUrl,
  taskId,
}: TaskEventOf<'auth-required'>) {
  return {
    id: authId,
    taskId,
    isSignIn: true,
    interruptKind: 'external-event',
    prompt,
    form: given({ authId, authType, provider, scopes, authUrl, infoUrl }),
    isForCaller: true,
  } as const;
}

const given = (fields: Data): Data =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
