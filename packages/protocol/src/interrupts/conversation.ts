/** What is said in a conversation: its turns, who may take them, and the answers by which a turn is taken. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, json, text } from '../fields.ts';
import type { Json } from '../json.ts';
import { parseShape } from '../parse.ts';

/** How many may be named as those who may speak. */
export const MAX_PARTICIPANTS = 32;

const name = text.max(256);

/** Whoever speaks: a person, an agent, or the host about the conversation itself. */
const turnRoles = ['user', 'agent', 'system'] as const;

const said = {
  to: z.string().max(256).optional(),
  groupId: z.string().max(256).optional(),
  content: json,
  agent: z.looseObject({ agentId: text.optional(), memoryRef: z.string().optional() }).optional(),
  /** Which of the participants speaks; of an agent's turn it is always said. */
  speakerId: name.optional(),
};

/** One turn (open). It is also the message by which it stands in a channel. */
export const conversationTurn = z
  .looseObject({
    /** The same message is taken once. */
    messageId: name,
    /** `user`, or an agent's id. */
    from: name,
    /** Milliseconds, by the clock of whoever spoke. */
    ts: count,
    role: z.enum(turnRoles),
    /** From 0, which is the opening turn. */
    turnIndex: count,
    ...said,
    /** Who sent it, by the credential. */
    principal: z.string().optional(),
  })
  .meta({ id: 'ConversationTurn' });

/** Somebody who may speak (open). */
export const participant = z.looseObject({ agentId: name, name: z.string().max(256).optional() });

/** A turn as it is sent: whatever else a turn has follows from the conversation. */
const sentTurn = z.looseObject({
  ...said,
  messageId: name.optional(),
  from: name.optional(),
  ts: count.optional(),
  role: z.enum(turnRoles).optional(),
  turnIndex: count.optional(),
});

const conversationId = name.optional();

/** An answer to a conversation that is open: the next turn, which leaves it open, or the last. */
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
/** It is open: one may claim who sent it, which counts for nothing. */
export type SentTurn = DataOf<typeof sentTurn> & { readonly principal?: Json };
export type ConversationAnswer = DataOf<typeof conversationAnswer>;

export const parseConversationAnswer = (value: Json): ConversationAnswer =>
  parseShape(conversationAnswer, value, 'The answer');
