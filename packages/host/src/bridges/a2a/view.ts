/**
 * The A2A view of a task: which update each task event becomes. Pure, and a fold: the same events give the same updates,
 * whether they are read live or from the log. Tools, thoughts and usage never cross to a peer.
 */
import { noteParent, type TaskEvent, type TaskEventOf, type TaskParents } from '@cairn/protocol';
import { contentBlock, contentPiece, dataset, file, newWrites, record, type Writes } from './artifacts.ts';
import { askedOfCaller, askingState, forget, noQuestions, note, type Questions, questionParts } from './questions.ts';
import type { A2aPart, A2aState, A2aUpdate, Data, StatusUpdate } from './update.ts';

export interface A2aViewOptions {
  /** The task whose view it is. Of the tasks below it, only what they ask the caller is shown. */
  readonly taskId: string;
  /** The name of this host among others. */
  readonly hostId: string;
  /** Where the content of an artifact is read that is too large for an event. */
  readonly artifactUrl: (contextId: string, artifactId: string) => string;
}

/** What the view remembers between two events. */
export interface A2aView extends A2aViewOptions {
  readonly writes: Writes;
  readonly questions: Questions;
  /** The parents of the tasks below it. */
  readonly parents: TaskParents;
  /** The status of the task itself, whatever the tasks below it ask. */
  own: A2aState;
  /** The one final update was given. */
  isOver: boolean;
}

export const newA2aView = (options: A2aViewOptions): A2aView => ({
  ...options,
  writes: newWrites(),
  questions: noQuestions(),
  parents: new Map(),
  own: 'submitted',
  isOver: false,
});

/** Folds an event in, and returns the updates that show it. Events of other tasks and unknown kinds give none. */
export function a2aUpdates(view: A2aView, event: TaskEvent): readonly A2aUpdate[] {
  if (view.isOver) return [];
  if (event.taskId === view.taskId) return ofTask(view, event);
  return isBelow(view, event) ? ofSubtask(view, event) : [];
}

/** Notes the parents of the tasks below. The other tasks of the conversation leave nothing behind. */
function isBelow({ taskId, parents }: A2aView, event: TaskEvent): boolean {
  const { parentTaskId } = event;
  if (parentTaskId === undefined || (parentTaskId !== taskId && !parents.has(parentTaskId))) return false;
  noteParent(parents, event);
  return true;
}

/** The task itself has reported that it waits for input. */
export const isWaiting = ({ own }: A2aView): boolean => own === 'input-required' || own === 'auth-required';

function ofTask(view: A2aView, event: TaskEvent): readonly A2aUpdate[] {
  switch (event.kind) {
    case 'task-created':
      return [created(view, event)];
    case 'task-status':
      return ofStatus(view, event);
    // The one update of a success: `task-status: completed` before it is not sent.
    case 'task-complete':
      return [ended(view, event, { state: 'completed', parts: textOf(event.content) })];
    case 'content-delta':
      return [contentPiece(view.writes, event)];
    case 'content-complete':
      return [contentBlock(view.writes, event)];
    case 'file-write':
      return file(view, event);
    case 'data-write':
      return [record(view, event)];
    case 'dataset-write':
      return dataset(view, event);
    case 'input-required':
      note(view.questions, event);
      return event.inputType === 'tool-execution' || isWaiting(view) ? [asking(view, event)] : [];
    case 'auth-required':
      note(view.questions, event);
      return isWaiting(view) ? [asking(view, event)] : [];
    default:
      return stillAsked(view, event);
  }
}

/** The answer to one of several questions: the peer is shown those that are left. */
function stillAsked(view: A2aView, event: TaskEvent): readonly A2aUpdate[] {
  const before = askedOfCaller(view.questions).length;
  note(view.questions, event);
  const left = askedOfCaller(view.questions).length;
  return isWaiting(view) && left > 0 && left !== before ? [asking(view, event)] : [];
}

/** A peer sees one task. What a task below it asks the caller is asked by this one. */
function ofSubtask(view: A2aView, event: TaskEvent): readonly A2aUpdate[] {
  const before = askedOfCaller(view.questions).length;
  if (isEnd(event)) forget(view, event.taskId);
  else note(view.questions, event);
  const now = askedOfCaller(view.questions).length;
  if (now === before) return [];
  if (now > 0) return [asking(view, event)];
  return [update(view, event, { state: view.own })];
}

const isEnd = (event: TaskEvent): boolean =>
  event.kind === 'task-complete' ||
  (event.kind === 'task-status' && (event.status === 'failed' || event.status === 'canceled'));

const states = {
  working: 'working',
  'waiting-subtask': 'working',
  'waiting-input': 'input-required',
  'waiting-auth': 'auth-required',
} as const;

function ofStatus(view: A2aView, event: TaskEventOf<'task-status'>): readonly A2aUpdate[] {
  const { status, message, error, metadata } = event;
  switch (status) {
    case 'completed':
      return [];
    case 'failed':
      return [ended(view, event, { state: 'failed', parts: textOf(message ?? error?.message), ...failure(error) })];
    case 'canceled':
      return [ended(view, event, { state: 'canceled', parts: textOf(message ?? metadata?.reason) })];
    default:
      view.own = states[status];
      if (askedOfCaller(view.questions).length > 0) return [asking(view, event)];
      // A held decision says that it waits before it says what it asks. A peer is told of both at once.
      return isWaiting(view) ? [] : [update(view, event, { state: 'working', parts: textOf(message) })];
  }
}

/** Details of an error stay inside. */
const failure = (error: TaskEventOf<'task-status'>['error']): { readonly more?: Data } =>
  error === undefined ? {} : { more: { error: { code: error.code, message: error.message } } };

function created({ taskId, hostId }: A2aView, event: TaskEventOf<'task-created'>): A2aUpdate {
  const { contextId, eventId, timestamp, metadata } = event;
  const { content: text, messageId = eventId } = metadata?.message ?? {};
  const said = { messageId, role: 'user', contextId, taskId } as const;
  return {
    type: 'task',
    task: {
      id: taskId,
      contextId,
      status: { state: 'submitted', timestamp },
      artifacts: [],
      history: text === undefined ? [] : [{ ...said, parts: [{ text }] }],
      metadata: origin({ taskId, hostId }, eventId),
    },
  };
}

/** The task waits for the caller, who sees each question and the form of its answer. */
function asking(view: A2aView, event: TaskEvent): StatusUpdate {
  const asked = askedOfCaller(view.questions);
  const state = askingState(asked) ?? view.own;
  const [first] = asked;
  const more = first && { interrupt: { kind: first.interruptKind, interruptId: first.id } };
  return update(view, event, { state, parts: questionParts(asked), ...(more && { more }) });
}

function ended(view: A2aView, event: TaskEvent, said: Said): StatusUpdate {
  view.isOver = true;
  return { ...update(view, event, said), isFinal: true };
}

const textOf = (text: string | undefined): readonly A2aPart[] => (text === undefined || text === '' ? [] : [{ text }]);

interface Said {
  readonly state: A2aState;
  readonly parts?: readonly A2aPart[];
  readonly more?: Data;
}

function update(view: A2aView, event: TaskEvent, { state, parts = [], more }: Said): StatusUpdate {
  const { taskId } = view;
  const { contextId, eventId, timestamp } = event;
  const message = { messageId: eventId, role: 'agent', parts, contextId, taskId } as const;
  return {
    type: 'status',
    taskId,
    contextId,
    status: { state, timestamp, ...(parts.length > 0 && { message }) },
    isFinal: false,
    metadata: origin(view, eventId, more),
  };
}

/** Which event of which run on which host an update comes from, for the log of the peer. */
const origin = ({ taskId, hostId }: Pick<A2aView, 'taskId' | 'hostId'>, eventId: string, more?: Data): Data => ({
  openwop: { runId: taskId, hostId, eventId, ...more },
});
