/** A conversation as a React hook. */
import { useMemo, useState, useSyncExternalStore } from 'react';
import type { ContextOptions } from '../context/context.ts';
import { conversationStatus, openQuestions, openSignIns } from '../context/conversation/selectors.ts';
import type { ConversationState, Question, SignIn, TaskItem } from '../context/conversation/state.ts';
import type { ConversationClient } from '../context/index.ts';
import {
  type ConversationView,
  type LiveConversation,
  type LiveConversationOptions,
  liveConversation,
} from '../live/conversation.ts';
import { Shared } from './shared.ts';

export interface UseConversationOptions extends Omit<LiveConversationOptions, 'timers'>, ContextOptions {}

export interface Conversation extends ConversationView {
  /** What the user can do. The same object for the whole conversation; pass it on to components. */
  readonly conversation: LiveConversation;
  readonly status: 'idle' | 'working' | 'waiting';
  /** What the user is to be asked. */
  readonly questions: readonly Question[];
  readonly signIns: readonly SignIn[];
  /** Whether the history is still being read. */
  readonly isLoading: boolean;
}

type ContextClient = Pick<ConversationClient, 'context'>;

const conversations = new Shared<LiveConversation>();

/**
 * The conversation of an id, kept up to date while the component is mounted. Without an id it is a new one, which begins
 * with its first message; `contextId` is its id then. Components that show the same conversation share one connection.
 */
export function useConversation(
  client: ContextClient,
  contextId: string | null = null,
  options: UseConversationOptions = {},
): Conversation {
  const conversation = useShared(client, contextId, options);
  const { subscribe, getSnapshot, getInitialSnapshot } = conversation;
  const view = useSyncExternalStore(subscribe, getSnapshot, getInitialSnapshot);
  return useMemo(() => {
    const { state } = view;
    return {
      ...view,
      conversation,
      status: conversationStatus(state),
      questions: openQuestions(state),
      signIns: openSignIns(state),
      isLoading: view.contextId !== null && !state.isCaughtUp,
    };
  }, [view, conversation]);
}

type EntryOf<Name extends TaskItem['of']> = NonNullable<ReturnType<ConversationState[Name]['get']>>;

/**
 * One entry of a conversation: a task, a message, a tool call. The component renders again only when this entry changes,
 * so that a long conversation stays quick.
 */
export function useEntry<Name extends TaskItem['of']>(
  conversation: LiveConversation,
  of: Name,
  id: string,
): EntryOf<Name> | undefined {
  const { subscribe, getSnapshot, getInitialSnapshot } = conversation;
  const entryOf = ({ state }: ConversationView) => state[of].get(id) as EntryOf<Name> | undefined;
  return useSyncExternalStore(
    subscribe,
    () => entryOf(getSnapshot()),
    () => entryOf(getInitialSnapshot()),
  );
}

function useShared(client: ContextClient, contextId: string | null, options: UseConversationOptions): LiveConversation {
  const { token, ...filter } = options;
  const keyOf = (id: string) => JSON.stringify([id, options]);
  const open = (id?: string) => liveConversation(client.context(id, token === undefined ? {} : { token }), filter);
  /** The first message gives it an id. Under that it is found from then on. */
  const begin = (): LiveConversation => {
    const fresh = open();
    const send: LiveConversation['send'] = async (content, sending) => {
      const accepted = await fresh.send(content, sending);
      conversations.add(client, keyOf(accepted.contextId), conversation);
      return accepted;
    };
    const conversation = { ...fresh, send };
    return conversation;
  };
  const [last, setLast] = useState(() => ({ client, contextId, fresh: begin() }));
  if (last.client !== client || last.contextId !== contextId) {
    const isNew = contextId === null || last.client !== client;
    setLast({ client, contextId, fresh: isNew ? begin() : last.fresh });
  }
  return contextId === null ? last.fresh : conversations.of(client, keyOf(contextId), () => open(contextId));
}
