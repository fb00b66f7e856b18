/** What a node knows of the conversation it holds: plain JSON, changed by the node's rows alone. */
import type { ConversationTurn, FoldEvent, Json, JsonObject, PayloadOf } from '@cairn/protocol';

export interface Conversation {
  readonly conversationId: string;
  /** The interrupt that is open as long as the conversation is. */
  interruptId: string;
  /** Where its turns are kept, as the row of its first one says. */
  channel: TurnChannel | null;
  /** The participants who may speak; null: everybody who can answer. */
  readonly participants: readonly string[] | null;
  /** The group whose conversation it is. */
  readonly groupId: string | null;
  /** What every turn after the first must fit. */
  readonly schema: JsonObject | null;
  /** The turn that was taken last, and where it is recorded. */
  last: ConversationTurn;
  lastSeq: number;
  /** How its interrupt ended. */
  end: { readonly value: Json; readonly timedOut: boolean } | null;
}

/** Where turns are kept: all that the rows of one channel repeat. */
export type TurnChannel = Pick<PayloadOf<'channel.written'>, 'channel' | 'reducer' | 'schemaVersion'>;

/** The part of a driven node's state that holds one. */
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

/** Rows of this host always have a first turn; the catalogue does not ask for one. */
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
