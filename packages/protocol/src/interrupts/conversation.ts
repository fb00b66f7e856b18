/** Conversations: turns, participants, and the answers that add a turn. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, json, text } from '../fields.ts';
import type { Json } from '../json.ts';
import { parseShape } from '../parse.ts';

/** Maximum number of participants. */
export const MAX_PARTICIPANTS = 32;

const name = text.max(256);

/** The speaker: a person, an agent, or the host. */
const turnRoles = ['user', 'agent', 'system'] as const;

const said = {
  to: z.string().max(256).optional(),
  groupId: z.string().max(256).optional(),
  content: json,
  agent: z.looseObject({ agentId: text.optional(), memoryRef: z.string().optional() }).optional(),
  /** The participant that speaks. Agent turns always have one. */
  speakerId: name.optional(),
};

/** One turn (open). The conversation's channel holds it as a message. */
export const conversationTurn = z
  .looseObject({
    /** Deduplicates the message. */
    messageId: name,
    /** `user`, or an agent's id. */
    from: name,
    /** Milliseconds, by the speaker's clock. */
    ts: count,
    role: z.enum(turnRoles),
    /** Counts from 0, the opening turn. */
    turnIndex: count,
    ...said,
    /** The authenticated sender. */
    principal: z.string().optional(),
  })
  .meta({ id: 'ConversationTurn' });

/** A participant (open). */
export const participant = z.looseObject({ agentId: name, name: z.string().max(256).optional() });

/** A turn in a request. The host fills in the missing fields. */
const sentTurn = z.looseObject({
  ...said,
  messageId: name.optional(),
  from: name.optional(),
  ts: count.optional(),
  role: z.enum(turnRoles).optional(),
  turnIndex: count.optional(),
});

const conversationId = name.optional();

/** An answer to an open conversation: `exchange` adds a turn, `close` ends it. */
export const conversationAnswer = z
  .discriminatedUnion('operation', [
    z.looseObject({ operation: z.literal('exchange'), conversationId, turn: sentTurn }),
    z.looseObject({
      operation: z.literal('close'),
      conversationId,
      turn: sentTurn.optional(),
      outcome: json.optional(),
    }),
  ])
  .meta({ id: 'ConversationAnswer' });

export type ConversationTurn = DataOf<typeof conversationTurn>;
/** The schema is open, so a request may claim a principal; the host ignores the claim. */
export type SentTurn = DataOf<typeof sentTurn> & { readonly principal?: Json };
export type ConversationAnswer = DataOf<typeof conversationAnswer>;

export const parseConversationAnswer = (value: Json): ConversationAnswer =>
  parseShape(conversationAnswer, value, 'The answer');
