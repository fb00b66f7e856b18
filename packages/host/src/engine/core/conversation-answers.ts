/** Answers to a conversation: a turn is checked against how the conversation was opened, taken once, and leaves it open; closing ends it. */
import {
  type ConversationAnswer,
  type ConversationTurn,
  type InterruptView,
  type Json,
  type JsonObject,
  jsonEquals,
  parseConversationAnswer,
  quoted,
  type SentTurn,
} from '@cairn/protocol';
import { exchangeDrafts, fullTurn } from '../nodes/conversation-drafts.ts';
import { type Conversation, conversationOf } from '../nodes/conversation-state.ts';
import { compileSchema } from '../values/schemas.ts';
import { resolvedDraft } from './interrupts.ts';
import { refuseProblems } from './refuse-answer.ts';
import type { Draft, RunState } from './state.ts';

interface Sender {
  readonly value: Json;
  readonly principal?: string | undefined;
}

export interface ConversationDrafts {
  readonly drafts: readonly Draft[];
  readonly settled: boolean;
}

export function conversationDrafts(
  state: RunState,
  interrupt: InterruptView,
  sender: Sender,
  now: number,
): ConversationDrafts {
  const { interruptId, nodeId } = interrupt;
  const answer = parseConversationAnswer(sender.value);
  const conversation = conversationOf(state, nodeId);
  if (conversation === null || conversation.interruptId !== interruptId) {
    refuseProblems(interruptId, [`node ${nodeId} holds no conversation`]);
  }
  const held = conversation as Conversation;
  refuseProblems(interruptId, addressProblems(held, answer));
  if (answer.operation === 'exchange') {
    return { drafts: exchanged(state, interrupt, { conversation: held, sender, now }, answer.turn), settled: false };
  }
  return { drafts: [closed(state, interrupt, { conversation: held, sender, now }, answer)], settled: true };
}

interface Moment {
  readonly conversation: Conversation;
  readonly sender: Sender;
  readonly now: number;
}

function addressProblems({ conversationId }: Conversation, answer: ConversationAnswer): string[] {
  const problems: string[] = [];
  if (answer.conversationId !== undefined && answer.conversationId !== conversationId) {
    problems.push(`the conversation is ${conversationId}, not ${quoted(answer.conversationId, 200)}`);
  }
  if (answer.operation === 'exchange' && 'outcome' in answer) {
    problems.push('an outcome comes with the operation close');
  }
  return problems;
}

function exchanged(
  state: RunState,
  { interruptId, nodeId }: InterruptView,
  { conversation, sender, now }: Moment,
  sent: SentTurn,
): readonly Draft[] {
  const { principal } = sender;
  const { conversationId, last } = conversation;
  const before = earlierTurn(state, conversation, sent);
  if (before === 'forgotten') return [];
  if (before !== null) {
    const again = fullTurn(conversationId, sent, { turnIndex: before.turnIndex, ts: before.ts, principal });
    const isSame =
      jsonEquals(again as unknown as Json, before as unknown as Json) &&
      (sent.turnIndex ?? before.turnIndex) === before.turnIndex;
    if (!isSame) refuseProblems(interruptId, [takenBy(before.messageId)]);
    return [];
  }
  const turnIndex = last.turnIndex + 1;
  const turn = fullTurn(conversationId, sent, { turnIndex, ts: now, principal });
  refuseProblems(interruptId, turnProblems(conversation, sent, turn));
  return exchangeDrafts(nodeId, conversation, turn, { seq: state.nextSeq, now });
}

const takenBy = (messageId: string): string => `another message has the messageId ${quoted(messageId, 200)}`;

/** A turn of this messageId that was taken before; one that is no longer in its channel was, too. */
function earlierTurn(
  { view }: RunState,
  { conversationId, channel }: Conversation,
  sent: SentTurn,
): ConversationTurn | 'forgotten' | null {
  const kept = view.channels[channel?.channel as string];
  const index = sent.turnIndex;
  if (kept === undefined || (sent.messageId === undefined && index === undefined)) return null;
  const { messageId } = fullTurn(conversationId, sent, { turnIndex: index ?? 0, ts: 0 });
  if (kept.ids === null || !Object.hasOwn(kept.ids, messageId)) return null;
  // Others may write to the channel, too, and whatever they like.
  const messages = (Array.isArray(kept.value) ? kept.value : []) as readonly (Partial<ConversationTurn> | null)[];
  const found = messages.findLast((message) => message?.messageId === messageId);
  return (found as ConversationTurn | undefined) ?? 'forgotten';
}

/** The index it names, who speaks, for which group, and the schema the conversation was opened with. */
function turnProblems(conversation: Conversation, sent: SentTurn, turn: ConversationTurn): string[] {
  const problems: string[] = [];
  const { turnIndex, role, speakerId, groupId } = turn;
  if (sent.turnIndex !== undefined && sent.turnIndex !== turnIndex) {
    problems.push(`turn.turnIndex ${sent.turnIndex} is not the next one, which is ${turnIndex}`);
  }
  if (role === 'system') problems.push('turn.role system is for the host itself');
  if (role === 'user' && turn.from !== 'user') problems.push('turn.from of a person must be user');
  if (role === 'agent' && speakerId === undefined) problems.push('turn.speakerId must name the agent that speaks');
  const { participants, schema } = conversation;
  if (speakerId !== undefined && participants !== null && !participants.includes(speakerId)) {
    problems.push(`turn.speakerId ${quoted(speakerId, 200)} is none of the participants ${participants.join(', ')}`);
  }
  if (conversation.groupId !== null && groupId !== conversation.groupId) {
    problems.push(`turn.groupId must be ${conversation.groupId}, the group whose conversation it is`);
  }
  if (schema === null) return problems;
  const { principal: _, ...shown } = turn;
  return [...problems, ...compileSchema(schema)(shown as unknown as Json).map((problem) => `turn: ${problem}`)];
}

/** What is said last takes its place among the turns once it is known that nothing came between. */
function closed(
  state: RunState,
  { interruptId, nodeId, kind, seq, data }: InterruptView,
  { conversation, sender, now }: Moment,
  { turn, outcome }: Extract<ConversationAnswer, { operation: 'close' }>,
): Draft {
  const { principal } = sender;
  const problems: string[] = [];
  const value: Record<string, Json> = { operation: 'close' };
  if (turn !== undefined) {
    const at = { turnIndex: conversation.last.turnIndex + 1, ts: now, principal };
    problems.push(...turnProblems(conversation, turn, fullTurn(conversation.conversationId, turn, at)));
    if (turn.messageId !== undefined && earlierTurn(state, conversation, turn) !== null) {
      problems.push(takenBy(turn.messageId));
    }
    const { turnIndex: _, principal: __, ...said }: SentTurn = turn;
    value.turn = { ...said, ...(principal === undefined ? {} : { principal }) } as JsonObject;
  }
  if (data.outcomeSchema !== undefined) {
    const check = compileSchema(data.outcomeSchema as JsonObject);
    problems.push(...check(outcome ?? null).map((problem) => `outcome: ${problem}`));
  }
  refuseProblems(interruptId, problems);
  if (outcome !== undefined) value.outcome = outcome;
  return resolvedDraft({ nodeId, interruptId, kind, cause: seq, at: now, value, by: principal ?? null });
}
