/** The rows that open a conversation, record a turn, and close it. */
import {
  type ConversationTurn,
  invariant,
  isoTime,
  type Json,
  type JsonObject,
  type PayloadOf,
  payloadId,
  row,
  type SentTurn,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@cairn/protocol';
import { askDrafts } from '../core/interrupts.ts';
import type { Draft } from '../core/state.ts';
import { mayWrite } from '../values/channel-access.ts';
import { groupIdOf } from '../workflow/agent-sharing.ts';
import type { DrivenContext, NodeContext } from '../workflow/node-type.ts';
import type { Conversation, Conversing, TurnChannel } from './conversation-state.ts';

/** The sender of the host's own turns. */
const HOST = 'core.system';

/** The default channel for turns. */
export const USUAL_CHANNEL = 'conversation';

/** Checks whether a node can store its turns in a channel, and returns the problems. */
export function channelProblems(node: WorkflowNode, name: string, definition: WorkflowDefinition): string[] {
  if (definition.variables.some((variable) => variable.name === name)) {
    return [`${name} is a variable; the turns of the conversation need a channel`];
  }
  const declared = definition.channels?.[name];
  if (declared === undefined) return [];
  const problems: string[] = [];
  if (declared.reducer !== 'message') {
    problems.push(`the channel ${name} has the reducer ${declared.reducer}; turns of a conversation need message`);
  }
  if (!mayWrite(declared, node)) {
    problems.push(`it may not write the channel ${name}, where the turns of the conversation go`);
  }
  return problems;
}

export interface ConversationOpening {
  /** The text of the first turn, and the agent that sends it; null for the host. */
  readonly prompt: string;
  readonly agentId: string | null;
  readonly channel: string;
  readonly participants?: PayloadOf<'conversation.opened'>['participants'] | undefined;
  readonly schema?: JsonObject | undefined;
  readonly outcomeSchema?: JsonObject | undefined;
  readonly timeoutMs?: number | undefined;
  readonly isManyTurns: boolean;
  /** seq of the row that caused the opening. */
  readonly cause?: number | undefined;
}

/** The suspension comes first, because it is the cause of the opening row. */
export function openingDrafts(context: NodeContext, opening: ConversationOpening): readonly Draft[] {
  const { state, node } = context;
  const conversationId = conversationIdOf(context);
  const { prompt, participants, schema, outcomeSchema, timeoutMs, agentId, cause } = opening;
  const data: JsonObject = { conversationId, prompt, ...(outcomeSchema && { outcomeSchema }), turnIndex: 1 };
  const asked = askDrafts(state, {
    nodeId: node.id,
    kind: 'conversation.exchange',
    data,
    timeoutMs,
    ...(agentId === null ? {} : { agentId }),
    suspended: { reason: 'conversation-input', conversationId },
  });
  const channel = channelFor(context, opening.channel);
  const turn = firstTurn(context, opening, conversationId);
  const payload = {
    conversationId,
    ...(agentId === null ? {} : { agentId, openedBy: agentId }),
    ...(participants && { participants }),
    initialTurn: turn,
    ...(schema && { schema }),
    ...(opening.isManyTurns && { capabilities: ['multi-turn' as const] }),
  };
  const suspendedSeq = state.nextSeq;
  return [
    ...asked.slice(0, 1).map((suspended) => (cause === undefined ? suspended : { ...suspended, cause })),
    row('conversation.opened', payload, { nodeId: node.id, cause: suspendedSeq }),
    ...asked.slice(1).map((draft) => ({ ...draft, cause: suspendedSeq })),
    written(channel, turn, { nodeId: node.id, cause: suspendedSeq + 1, now: state.now }),
  ];
}

/** Each attempt of a node has its own conversation. */
function conversationIdOf({ runId, node, visit, attempt, state }: NodeContext): string {
  const { idToken } = state.view;
  const place = `${node.id}:${visit === 0 ? '' : `${visit}.`}${attempt}`;
  return idToken === null ? `${runId}:${place}` : payloadId(idToken, 'conv', place);
}

const messageIdOf = (conversationId: string, turnIndex: number, role: string): string =>
  `${conversationId}:${turnIndex}:${role}`;

function channelFor({ compiled }: NodeContext, channel: string): TurnChannel {
  const { schemaVersion } = compiled.definition.channels?.[channel] ?? {};
  return { channel, reducer: 'message', ...(schemaVersion === undefined ? {} : { schemaVersion }) };
}

function firstTurn(
  context: NodeContext,
  { prompt, agentId, channel }: ConversationOpening,
  id: string,
): ConversationTurn {
  const role = agentId === null ? 'system' : 'agent';
  const groupId = groupIdOf(context.compiled.definition.channels?.[channel]?.options?.agentSharing);
  return {
    messageId: messageIdOf(id, 0, role),
    from: agentId ?? HOST,
    ...(groupId === null ? {} : { groupId }),
    content: prompt,
    ts: context.state.now,
    role,
    ...(agentId === null ? {} : { agent: { agentId }, speakerId: agentId }),
    turnIndex: 0,
  };
}

/** Completes a sent turn with defaults. `principal` comes from the credential, never from the turn. */
export function fullTurn(
  conversationId: string,
  sent: SentTurn,
  {
    turnIndex,
    ts,
    principal,
  }: { readonly turnIndex: number; readonly ts: number; readonly principal?: string | undefined },
): ConversationTurn {
  const { principal: _, ...rest } = sent;
  const role = sent.role ?? 'user';
  return {
    ...rest,
    messageId: sent.messageId ?? messageIdOf(conversationId, turnIndex, role),
    from: sent.from ?? (role === 'user' ? 'user' : (sent.speakerId ?? HOST)),
    content: sent.content,
    ts: sent.ts ?? ts,
    role,
    turnIndex,
    ...(principal === undefined ? {} : { principal }),
  };
}

/** A closing turn by the host, for a conversation that ends without one. */
function hostTurn({ conversationId, groupId, last }: Conversation, content: string, ts: number) {
  const sent: SentTurn = { role: 'system', content, ...(groupId === null ? {} : { groupId }) };
  return fullTurn(conversationId, sent, { turnIndex: last.turnIndex + 1, ts });
}

/** The rows of a turn: the exchange at `seq`, and the message in its channel. */
export function exchangeDrafts(
  nodeId: string,
  { conversationId, lastSeq, channel }: Conversation,
  turn: ConversationTurn,
  { seq, now }: { readonly seq: number; readonly now: number },
): readonly Draft[] {
  const payload = { conversationId, turnIndex: turn.turnIndex, turn };
  return [
    row('conversation.exchanged', payload, { nodeId, cause: lastSeq }),
    written(channel, turn, { nodeId, cause: seq, now }),
  ];
}

interface Closing {
  /** A separate closing turn, or the last recorded turn. */
  readonly turn: ConversationTurn;
  readonly outcome: Json;
  readonly reason: string;
}

/** `seq` is the position of the first row, if known. */
export function closingDrafts(
  nodeId: string,
  { conversationId, last, lastSeq, channel }: Conversation,
  { turn, outcome, reason }: Closing,
  { seq, now }: { readonly seq: number | undefined; readonly now: number },
): readonly Draft[] {
  const isNew = turn.turnIndex > last.turnIndex;
  const payload = {
    conversationId,
    turnIndex: turn.turnIndex,
    finalTurn: turn,
    outcome,
    reason,
    turnCount: last.turnIndex,
  };
  return [
    row('conversation.closed', payload, { nodeId, cause: lastSeq }),
    ...(isNew ? [written(channel, turn, { nodeId, cause: seq, now })] : []),
  ];
}

/** The closing of a conversation that a participant closed or that timed out. */
export function closingOf(conversation: Conversation, end: NonNullable<Conversation['end']>, now: number): Closing {
  const { conversationId, last } = conversation;
  if (end.timedOut) {
    return { turn: hostTurn(conversation, 'The conversation timed out.', now), outcome: null, reason: 'timeout' };
  }
  // A question that was closed has no value.
  const { turn: sent, outcome = null } = (end.value ?? {}) as { readonly turn?: SentTurn; readonly outcome?: Json };
  const principal = typeof sent?.principal === 'string' ? sent.principal : undefined;
  const at = { turnIndex: last.turnIndex + 1, ts: now, principal };
  const turn =
    sent === undefined
      ? hostTurn(conversation, 'The conversation was closed.', now)
      : fullTurn(conversationId, sent, at);
  return { turn, outcome, reason: 'closed' };
}

/** Closes the open conversation of a node that times out or whose run ends. */
export function stoppedConversation({ inner, node, state }: DrivenContext<Conversing>): readonly Draft[] {
  const { conversation } = inner;
  if (conversation === null || conversation.end !== null) return [];
  const turn = hostTurn(conversation, 'The conversation was stopped.', state.now);
  const closing = { turn, outcome: null, reason: 'stopped' };
  return closingDrafts(node.id, conversation, closing, { seq: undefined, now: state.now });
}

interface Place {
  readonly nodeId: string;
  readonly cause: number | undefined;
  readonly now: number;
}

/** The row that writes a turn to its channel. */
function written(channel: TurnChannel | null, turn: ConversationTurn, { nodeId, cause, now }: Place): Draft {
  invariant(channel !== null, 'conversation-has-channel', { nodeId });
  return row('channel.written', { ...channel, value: turn, writtenAt: isoTime(now), nodeId }, { nodeId, cause });
}
