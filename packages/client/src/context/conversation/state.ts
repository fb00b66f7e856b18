/** What a user interface shows of a context. All of it follows from the events. */
import type { TaskEventOf, TaskStatus } from '@cairn/protocol';
import { OrderedMap } from './ordered-map.ts';

export interface ConversationState {
  /** The last event in it. Follow the context after this cursor. */
  readonly cursor: number;
  /** Whether the history was read; what comes is live. */
  readonly isCaughtUp: boolean;
  /** Whether the oldest entries were dropped, because there are too many. The log of the host has them. */
  readonly isTrimmed: boolean;
  /** Tasks that have no known task above them, the oldest first. */
  readonly roots: readonly string[];
  readonly tasks: OrderedMap<TaskState>;
  /** What people and agents said, in order. */
  readonly messages: OrderedMap<Message>;
  readonly tools: OrderedMap<ToolState>;
  readonly thoughts: OrderedMap<Thought>;
  readonly questions: OrderedMap<Question>;
  readonly signIns: OrderedMap<SignIn>;
  readonly artifacts: OrderedMap<ArtifactState>;
}

/** What a task shows, in order: each is a key of the map of its name. */
export interface TaskItem {
  readonly of: 'messages' | 'tools' | 'thoughts' | 'questions' | 'signIns' | 'artifacts' | 'tasks';
  readonly id: string;
}

export interface TaskState {
  readonly taskId: string;
  readonly parentTaskId: string | null;
  readonly agentId: string | null;
  /** What the task above it asked for. */
  readonly prompt: string | null;
  /** Null before its first status. */
  readonly status: TaskStatus | null;
  readonly statusMessage: string | null;
  /** What it waits for. */
  readonly pending: readonly { readonly type: string; readonly id: string }[];
  readonly isOver: boolean;
  readonly result: string | null;
  readonly error: TaskEventOf<'task-status'>['error'] | null;
  /** Problems that did not end it, the newest last; at most 100. */
  readonly problems: readonly TaskEventOf<'error'>[];
  readonly tokens: { readonly input: number; readonly output: number; readonly total: number };
  /** Keys of its messages that may still grow. */
  readonly openMessages: readonly string[];
  readonly items: readonly TaskItem[];
}

export interface Message {
  readonly role: 'user' | 'agent';
  readonly taskId: string;
  readonly agentId: string | null;
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
  /** Whether some of it is missing: the events began in the middle of it, or it is too long. */
  readonly isPartial: boolean;
  /** The artifact that holds all of a text that is too long for an event, as JSON; else null. */
  readonly artifactId: string | null;
}

export interface ToolState {
  readonly toolCallId: string;
  readonly taskId: string;
  /** Null when the events began in the middle of the call. */
  readonly toolName: string | null;
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** `stopped`: its task ended before the call did. */
  readonly status: 'running' | 'succeeded' | 'failed' | 'stopped';
  /** Whether `cancelTool` may end it. */
  readonly isCancelable: boolean;
  readonly progress: TaskEventOf<'tool-progress'> | null;
  readonly result: unknown;
  readonly error: string | null;
}

export type Thought = Pick<
  TaskEventOf<'thought-stream'>,
  'taskId' | 'thoughtId' | 'thoughtType' | 'verbosity' | 'content' | 'metadata'
>;

export interface Question {
  readonly taskId: string;
  readonly asked: TaskEventOf<'input-required'>;
  /** `closed`: nobody answered, because the time was up, the question was canceled or its task ended. */
  readonly status: 'open' | 'answered' | 'closed';
  /**
   * Who answered or closed it, with the outcome and the time it took in its metadata; null before, and at the end of its
   * task. The answer itself is in the log of the run alone, at the event that `eventId` names.
   */
  readonly received: TaskEventOf<'input-received'> | null;
  /** Whether to ask the user. A question of a subtask goes to the agent above it first, which may pass it on. */
  readonly isForUser: boolean;
}

export interface SignIn {
  readonly taskId: string;
  readonly asked: TaskEventOf<'auth-required'>;
  /** `closed`: refused, too late, or its task ended. */
  readonly status: 'open' | 'completed' | 'closed';
}

export interface ArtifactState {
  readonly artifactId: string;
  readonly family: 'file' | 'data' | 'dataset';
  readonly name: string | null;
  readonly description: string | null;
  readonly mimeType: string | null;
  /** The newest complete version; null while there is none. */
  readonly current: ArtifactVersionState | null;
  /** The version that is being written. */
  readonly open: ArtifactVersionState | null;
}

export interface ArtifactVersionState {
  readonly taskId: string;
  /** Null when the events began in the middle of it. */
  readonly version: number | null;
  /** Of a file. Base64 if `encoding` says so. */
  readonly text: string;
  readonly encoding: 'utf-8' | 'base64';
  /** Of a record. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** Of a dataset. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Content is missing here: it is too large, or came before the first event. Read the artifact itself. */
  readonly isPartial: boolean;
}

export const emptyConversation: ConversationState = {
  cursor: 0,
  isCaughtUp: false,
  isTrimmed: false,
  roots: [],
  tasks: OrderedMap.empty(),
  messages: OrderedMap.empty(),
  tools: OrderedMap.empty(),
  thoughts: OrderedMap.empty(),
  questions: OrderedMap.empty(),
  signIns: OrderedMap.empty(),
  artifacts: OrderedMap.empty(),
};
