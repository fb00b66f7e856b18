/** What a node knows of the conversation it holds: plain JSON, changed by the node's rows alone. */
import type { ConversationTurn, Json, JsonObject, RawEvent } from '@cairn/protocol';

export interface Conversation {
  readonly conversationId: string;
  /** The interrupt that is open as long as the conversation is. */
  interruptId: string;
  /** Where its turns are kept, as the row of its first one says. */
  channel: JsonObject | null;
  /** Those who may speak; null when whoever can answer may. */
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

/** The part of a driven node's state that holds one. */
export interface Conversing {
  conversation: Conversation | null;
}

export function evolveConversation(inner: Conversing, event: RawEvent): void {
  const { type, payload, seq } = event;
  if (type === 'conversation.opened') {
    inner.conversation = opened(payload, seq);
    return;
  }
  const { conversation } = inner;
  if (conversation === null) return;
  switch (type) {
    case 'interrupt.requested':
      if (payload.kind === 'conversation.exchange') conversation.interruptId = payload.interruptId as string;
      break;
    case 'conversation.exchanged':
      conversation.last = payload.turn as unknown as ConversationTurn;
      conversation.lastSeq = seq;
      break;
    case 'channel.written':
      conversation.channel ??= channelOf(payload);
      break;
    case 'interrupt.resolved':
      if (payload.interruptId !== conversation.interruptId) break;
      conversation.end = { value: (payload.resumeValue ?? null) as Json, timedOut: payload.reason === 'timeout' };
      break;
  }
}

function opened({ conversationId, participants, schema, initialTurn }: JsonObject, seq: number): Conversation {
  const turn = initialTurn as unknown as ConversationTurn;
  const members = participants as unknown as readonly { readonly agentId: string }[] | undefined;
  return {
    conversationId: conversationId as string,
    interruptId: '',
    channel: null,
    participants: members?.map(({ agentId }) => agentId) ?? null,
    groupId: turn.groupId ?? null,
    schema: (schema as JsonObject | undefined) ?? null,
    last: turn,
    lastSeq: seq,
    end: null,
  };
}

/** All that a later write to the same channel repeats. */
const channelOf = ({ channel, reducer, schemaVersion }: JsonObject): JsonObject => ({
  channel: channel as string,
  reducer: reducer as string,
  ...(schemaVersion === undefined ? {} : { schemaVersion }),
});
