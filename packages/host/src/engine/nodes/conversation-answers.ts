/**
 * Answers to a conversation. A turn is validated against the opening row, recorded once, and leaves the conversation
 * open. A close operation ends it.
 */
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
  TerminalError,
} from '@cairn/protocol';
import { answerRefused, refuseProblems } from '../core/answers/refuse-answer.ts';
import { resolvedDraft } from '../core/interrupts.ts';
import type { Draft } from '../core/state.ts';
import { schemaProblems } from '../values/schemas.ts';
import type { SentAnswer } from '../workflow/driven-calls.ts';
import type { DrivenContext } from '../workflow/node-type.ts';
import { exchangeDrafts, fullTurn } from './conversation-drafts.ts';
import type { Conversation, Conversing } from './conversation-state.ts';

type Context = DrivenContext<Conversing>;

/** The rows that record an answer to a conversation; null for an answer to another kind of question. */
export function conversationAnswer(
  context: Context,
  interrupt: InterruptView,
  sent: SentAnswer,
): readonly Draft[] | null {
  if (interrupt.kind !== 'conversation.exchange') return null;
  const { interruptId, nodeId } = interrupt;
  const answer = asPerson(parseConversationAnswer(sent.value), sent.tokenId);
  const { conversation } = context.inner;
  if (conversation === null || conversation.end !== null || conversation.interruptId !== interruptId) {
    throw answerRefused(interruptId, [`node ${nodeId} holds no conversation`]);
  }
  refuseProblems(interruptId, addressProblems(conversation, answer));
  if (answer.operation === 'close' && isSpent(context.state, conversation, sent.tokenId)) throw tokenSpent(interruptId);
  return answer.operation === 'exchange'
    ? exchanged(context, interrupt, { conversation, sent }, answer.turn)
    : [closed(context, interrupt, { conversation, sent }, answer)];
}

/**
 * An answer with a one-time token is the turn of a person, whatever it says. The token gives the message its id, so that
 * the conversation takes a second turn of the same token for a repetition of the first.
 */
function asPerson(answer: ConversationAnswer, tokenId: string | undefined): ConversationAnswer {
  if (tokenId === undefined || answer.turn === undefined) return answer;
  const { speakerId: _, agent: __, ...said }: SentTurn = answer.turn;
  return { ...answer, turn: { ...said, role: 'user', from: 'user', messageId: messageIdOfToken(tokenId) } };
}

const messageIdOfToken = (tokenId: string): string => `token-${tokenId}`;

/** Whether the conversation has a turn of this token. */
const isSpent = (state: Context['state'], conversation: Conversation, tokenId: string | undefined): boolean =>
  tokenId !== undefined &&
  earlierTurn(state, conversation, { content: null, messageId: messageIdOfToken(tokenId) }) !== null;

const tokenSpent = (interruptId: string): TerminalError =>
  new TerminalError('interrupt_already_resolved', {
    message: `This token has taken its turn in the conversation ${interruptId}.`,
    hint: 'A token is good for one turn. Ask for a new one.',
    details: { interruptId },
  });

interface Taken {
  readonly conversation: Conversation;
  readonly sent: SentAnswer;
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
  { state }: Context,
  { interruptId, nodeId }: InterruptView,
  { conversation, sent: { principal, tokenId, now } }: Taken,
  sent: SentTurn,
): readonly Draft[] {
  const { conversationId, last } = conversation;
  const before = earlierTurn(state, conversation, sent);
  if (before === 'forgotten') return [];
  if (before !== null) {
    const again = fullTurn(conversationId, sent, { turnIndex: before.turnIndex, ts: before.ts, principal });
    const isSame = jsonEquals(again, before) && (sent.turnIndex ?? before.turnIndex) === before.turnIndex;
    if (!isSame && tokenId !== undefined) throw tokenSpent(interruptId);
    if (!isSame) refuseProblems(interruptId, [takenBy(before.messageId)]);
    return [];
  }
  const turnIndex = last.turnIndex + 1;
  const turn = fullTurn(conversationId, sent, { turnIndex, ts: now, principal });
  refuseProblems(interruptId, turnProblems(conversation, sent, turn));
  return exchangeDrafts(nodeId, conversation, turn, { seq: state.nextSeq, now });
}

const takenBy = (messageId: string): string => `another message has the messageId ${quoted(messageId, 200)}`;

/** Finds an earlier turn with this messageId; `forgotten` if the channel no longer holds it. */
function earlierTurn(
  { view }: Context['state'],
  { conversationId, channel }: Conversation,
  sent: SentTurn,
): ConversationTurn | 'forgotten' | null {
  const kept = view.channels[channel?.channel as string];
  const index = sent.turnIndex;
  if (kept === undefined || (sent.messageId === undefined && index === undefined)) return null;
  const { messageId } = fullTurn(conversationId, sent, { turnIndex: index ?? 0, ts: 0 });
  if (kept.ids === null || !Object.hasOwn(kept.ids, messageId)) return null;
  // Other nodes may write to the channel too, with values of any shape.
  const messages = (Array.isArray(kept.value) ? kept.value : []) as readonly (Partial<ConversationTurn> | null)[];
  const found = messages.findLast((message) => message?.messageId === messageId);
  return (found as ConversationTurn | undefined) ?? 'forgotten';
}

/** Checks a turn's index, speaker and group, and validates it with the schema of the conversation. */
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
  return [...problems, ...schemaProblems(schema, shown).map((problem) => `turn: ${problem}`)];
}

/** The closing turn gets its index when the node closes, because another turn may arrive before that. */
function closed(
  { state }: Context,
  { interruptId, nodeId, kind, seq, data }: InterruptView,
  { conversation, sent: { principal, now } }: Taken,
  { turn, outcome }: Extract<ConversationAnswer, { operation: 'close' }>,
): Draft {
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
    const found = schemaProblems(data.outcomeSchema as JsonObject, outcome ?? null);
    problems.push(...found.map((problem) => `outcome: ${problem}`));
  }
  refuseProblems(interruptId, problems);
  if (outcome !== undefined) value.outcome = outcome;
  return resolvedDraft({ nodeId, interruptId, kind, cause: seq, at: now, value, by: principal ?? null });
}
