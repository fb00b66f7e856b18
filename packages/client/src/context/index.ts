/** The public surface of `@cairn/client/context`: the client with conversations, and nothing else. */
import { type Client, type ClientOptions, clientOver, wireOf } from '../client.ts';
import { type Context, type ContextOptions, contextCalls } from './context.ts';

export type {
  ArtifactEntry,
  ArtifactList,
  ArtifactSaved,
  AuthCompletion,
  ContextTask,
  ContextTaskDetail,
  ContextTasks,
  InputAnswered,
  MessageAccepted,
  TaskCancelled,
  TaskEvent,
  TaskEventKind,
  TaskEventOf,
  TaskEventPage,
  ToolCancelled,
} from '@cairn/protocol';
export {
  type ConversationView,
  type LiveConversation,
  type LiveConversationOptions,
  liveConversation,
  type OutgoingMessage,
} from '../live/conversation.ts';
export type { Live, LiveStatus } from '../live/live-store.ts';
export type { ArtifactPage, Artifacts, ReadArtifactOptions } from './artifacts.ts';
export type { ClientToolHandler, ClientTools } from './client-tools.ts';
export type { Context, ContextOptions, EventPage, TaskPage } from './context.ts';
export { reduceConversation } from './conversation/reduce.ts';
export { conversationStatus, openQuestions, openSignIns, subtasksOf } from './conversation/selectors.ts';
export {
  type ArtifactState,
  type ArtifactVersionState,
  type ConversationState,
  emptyConversation,
  type Message,
  type Question,
  type SignIn,
  type TaskItem,
  type TaskState,
  type Thought,
  type ToolState,
} from './conversation/state.ts';
export { listenToEventSource } from './event-source.ts';
export type { TaskEventFilter } from './filter.ts';
export type { ContextEvent, FollowContextOptions, StreamNotice } from './follow-context.ts';
export type { ArtifactReading } from './read-artifact.ts';
export {
  ArtifactConflict,
  type ArtifactContent,
  type SaveArtifactOptions,
  type UpdateArtifactOptions,
} from './save-artifact.ts';
export type { SendOptions, SentMessage } from './send.ts';
export type { SignInRequest, SignInStep } from './sign-in.ts';
export type { WatchArtifactOptions } from './watch-artifact.ts';

/** The client of `@cairn/client`, with conversations. */
export interface ConversationClient extends Client {
  /** A conversation by its id; without one, a new one that its first message creates. */
  context(contextId?: string, options?: ContextOptions): Context;
}

export function createClient(options: ClientOptions): ConversationClient {
  const wire = wireOf(options);
  return { ...clientOver(wire), context: (contextId, of) => contextCalls(wire, contextId, of) };
}
