/** A conversation for a user interface: its state, kept up to date, and all that the user can do in it. */
import type { MessageAccepted } from '@cairn/protocol';
import type { Context } from '../context/context.ts';
import { reduceConversation } from '../context/conversation/reduce.ts';
import { type ConversationState, emptyConversation } from '../context/conversation/state.ts';
import type { TaskEventFilter } from '../context/filter.ts';
import type { ContextEvent } from '../context/follow-context.ts';
import type { SendOptions } from '../context/send.ts';
import type { Timers } from '../timers.ts';
import { type Live, type LiveStatus, LiveStore, liveCalls } from './live-store.ts';

export interface LiveConversationOptions extends TaskEventFilter {
  /** Shows only what came after this cursor. Default 0, the whole history. */
  readonly after?: number;
  /** Default: real time. */
  readonly timers?: Timers;
}

/** A message on its way. It is gone from here when the conversation shows it. */
export interface OutgoingMessage {
  readonly key: number;
  readonly content: string;
  /** Null until the host has it. */
  readonly taskId: string | null;
  /** Why it was not sent; null while it may be. */
  readonly error: unknown;
}

export interface ConversationData {
  /** Null before the first message of a new conversation. */
  readonly contextId: string | null;
  readonly state: ConversationState;
  readonly outgoing: readonly OutgoingMessage[];
}

export type ConversationView = ConversationData & LiveStatus;

export interface LiveConversation
  extends Live<ConversationView>,
    Pick<Context, 'answer' | 'reject' | 'signIn' | 'cancel' | 'cancelTool' | 'artifacts'> {
  /** Sends a message and shows it at once among the outgoing ones. Runs calls of its tools until its task ends. */
  send(content: string, options?: SendOptions): Promise<MessageAccepted>;
  /** Drops a message that was not sent. */
  discard(key: number): void;
  /** Cancels every task that is open. */
  stop(reason?: string): Promise<void>;
}

/** A result that cannot be sent leaves its call open: the user may still answer it. */
async function runTools(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

/** Connects once somebody subscribes. A new context (`client.context()`) is followed from its first message on. */
export function liveConversation(
  context: Context,
  { after = 0, timers, ...filter }: LiveConversationOptions = {},
): LiveConversation {
  const store = new LiveStore<ContextEvent, ConversationData>(
    {
      open: ({ state }, options) =>
        context.id === null
          ? null
          : context.follow({ ...filter, ...options, coalesce: true, after: Math.max(after, state.cursor) }),
      reduce: folded,
    },
    { contextId: context.id, state: emptyConversation, outgoing: [] },
    timers,
  );
  return { ...liveCalls(store), ...actionsOf(context, store) };
}

function folded(data: ConversationData, event: ContextEvent): ConversationData {
  const state = reduceConversation(data.state, [event]);
  if (state === data.state) return data;
  const isShown = ({ taskId }: OutgoingMessage) => taskId !== null && state.tasks.has(taskId);
  const outgoing = data.outgoing.some(isShown) ? data.outgoing.filter((message) => !isShown(message)) : data.outgoing;
  return { ...data, state, outgoing };
}

type Actions = Omit<LiveConversation, keyof Live<unknown>>;

function actionsOf(context: Context, store: LiveStore<ContextEvent, ConversationData>): Actions {
  let sent = 0;
  const change = (key: number, changes: Partial<OutgoingMessage>) => {
    const outgoing = store.data.outgoing.map((message) => (message.key === key ? { ...message, ...changes } : message));
    store.update({ outgoing });
  };
  const discard = (key: number) =>
    store.update({ outgoing: store.data.outgoing.filter((message) => message.key !== key) });
  return {
    answer: context.answer,
    reject: context.reject,
    signIn: context.signIn,
    cancel: context.cancel,
    cancelTool: context.cancelTool,
    artifacts: context.artifacts,
    discard,
    async send(content, options) {
      sent += 1;
      const key = sent;
      store.update({ outgoing: [...store.data.outgoing, { key, content, taskId: null, error: null }] });
      try {
        const message = context.send(content, options);
        const accepted = await message;
        if (Object.values(options?.tools ?? {}).some(({ run }) => run)) runTools(message).catch(() => undefined);
        if (store.data.state.tasks.has(accepted.taskId)) discard(key);
        else change(key, { taskId: accepted.taskId });
        if (store.data.contextId !== accepted.contextId) begin(accepted.contextId);
        return accepted;
      } catch (error) {
        change(key, { error });
        throw error;
      }
    },
    async stop(reason) {
      const { roots, tasks } = store.data.state;
      const open = roots.filter((id) => tasks.get(id)?.isOver === false);
      await Promise.all(open.map((taskId) => context.cancel(taskId, reason)));
    },
  };

  /** A new conversation has its id now, and can be followed. */
  function begin(contextId: string): void {
    store.update({ contextId });
    store.reconnect();
  }
}
