/** A node's conversation state: plain JSON, derived from the node's rows. */
import type { ConversationTurn, FoldEvent, Json, JsonObject, PayloadOf } from '@cairn/protocol';

export interface Conversation {
  readonly conversationId: string;
  /** The interrupt that stays open while the conversation is open. */
  interruptId: string;
  /** The channel of its turns, taken from the row of the first turn. */
  channel: TurnChannel | null;
  /** The agents that may speak; null for no restriction. */
  readonly participants: readonly string[] | null;
  /** The group that owns the conversation; null for none. */
  readonly groupId: string | null;
  /** The schema of every turn after the first. */
  readonly schema: JsonObject | null;
  /** The last recorded turn and the seq of its row. */
  last: ConversationTurn;
  lastSeq: number;
  /** The resolution of its interrupt; null while open. */
  end: { readonly value: Json; readonly timedOut: boolean } | null;
}

/** The channel of the turns: the fields that every row of the channel repeats. */
export type TurnChannel = Pick<PayloadOf<'channel.written'>, 'channel' | 'reducer' | 'schemaVersion'>;

/** The part of a driven node's state that holds a conversation. */
export interface Conversing {
  conversation: Conversation | null;
}

export function evolveConversation(inner: Conversing, event: FoldEvent): void {
  if (event.type === 'conversation.opened') {
    inner.conversation = opened(event.payload, event.seq);
    return;
  }
  const { conversation } = inner;
  if (conversation === null) return;
  switch (event.type) {
    case 'interrupt.requested':
      if (event.payload.kind === 'conversation.exchange') conversation.interruptId = event.payload.interruptId ?? '';
      break;
    case 'conversation.exchanged':
      conversation.last = event.payload.turn ?? conversation.last;
      conversation.lastSeq = event.seq;
      break;
    case 'channel.written':
      conversation.channel ??= channelOf(event.payload);
      break;
    case 'interrupt.resolved': {
      const { interruptId, resumeValue = null, reason } = event.payload;
      if (interruptId === conversation.interruptId)
        conversation.end = { value: resumeValue, timedOut: reason === 'timeout' };
      break;
    }
  }
}

/** This host always records a first turn, but the event catalogue does not require one. */
function opened(payload: PayloadOf<'conversation.opened'>, seq: number): Conversation | null {
  const { conversationId, participants, schema = null, initialTurn } = payload;
  if (initialTurn === undefined) return null;
  return {
    conversationId,
    interruptId: '',
    channel: null,
    participants: participants?.map(({ agentId }) => agentId) ?? null,
    groupId: initialTurn.groupId ?? null,
    schema,
    last: initialTurn,
    lastSeq: seq,
    end: null,
  };
}

const channelOf = ({ channel, reducer, schemaVersion }: PayloadOf<'channel.written'>): TurnChannel => ({
  channel,
  reducer,
  ...(schemaVersion === undefined ? {} : { schemaVersion }),
});
