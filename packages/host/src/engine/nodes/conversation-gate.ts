/** `core.conversationGate`: opens a conversation, records each turn on arrival, and completes when it is closed. */
import { agentIdProblem, MAX_PARTICIPANTS, participant, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';
import { resolvedDraft, resumedDraft } from '../core/interrupts.ts';
import type { Draft } from '../core/state.ts';
import {
  type ConfiguredNode,
  type DrivenContext,
  defineNodeType,
  type NodeAction,
  type NodeDriver,
  type Problem,
} from '../workflow/node-type.ts';
import { isReservedName } from '../workflow/reserved-names.ts';
import { jsonSchema, text, waitMs } from './config-fields.ts';
import { conversationAnswer } from './conversation-answers.ts';
import {
  type ConversationOpening,
  channelProblems,
  closingDrafts,
  closingOf,
  exchangeDrafts,
  fullTurn,
  openingDrafts,
  stoppedConversation,
  USUAL_CHANNEL,
} from './conversation-drafts.ts';
import { type Conversation, type Conversing, evolveConversation } from './conversation-state.ts';

const config = z
  .strictObject({
    prompt: text.optional(),
    channel: text.max(256).optional(),
    participants: z.array(participant).min(1).max(MAX_PARTICIPANTS).optional(),
    schema: jsonSchema.optional(),
    outcomeSchema: jsonSchema.optional(),
    timeoutMs: waitMs.optional(),
    lifecycle: z.literal('open-exchange-close').optional(),
    /** The node takes the turns itself, on a host under test. */
    mockAutoResume: z.boolean().optional(),
    turnCount: z.int().min(0).max(100).optional(),
  })
  .refine(({ turnCount, mockAutoResume }) => turnCount === undefined || mockAutoResume === true, {
    path: ['turnCount'],
    message: 'says how many turns config.mockAutoResume takes',
  });

type Config = z.infer<typeof config>;
type Context = DrivenContext<Conversing, Config>;

function check({ config, node, definition }: ConfiguredNode<Config>): Problem[] {
  const { channel = USUAL_CHANNEL, participants } = config;
  const problems = channelProblems(node, channel, definition);
  if (isReservedName(channel)) problems.push(`the name ${channel} is reserved`);
  return [
    ...problems.map((message) => ({ path: ['config', 'channel'], message })),
    ...rosterProblems(participants, node).map((message) => ({ path: ['config', 'participants'], message })),
  ];
}

function rosterProblems(participants: Config['participants'], { agent }: WorkflowNode): string[] {
  if (participants === undefined) return [];
  const ids = participants.map(({ agentId }) => agentId);
  const problems = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `it names ${id} twice`);
  for (const id of ids) {
    const problem = agentIdProblem(id);
    if (problem !== null) problems.push(`${id} ${problem}`);
  }
  if (agent !== undefined && !ids.includes(agent.agentId)) {
    problems.push(`the agent ${agent.agentId} opens the conversation and is not among them`);
  }
  return problems;
}

function open(context: Context): NodeAction {
  const { node, inputs } = context;
  const { prompt, channel = USUAL_CHANNEL, schema, outcomeSchema, timeoutMs } = context.config;
  const given = inputs.prompt;
  const words = typeof given === 'string' && given !== '' ? given : (prompt ?? node.name);
  const drafts = openingDrafts(context, {
    prompt: words === '' ? `Node ${node.id} has opened a conversation.` : words,
    agentId: node.agent?.agentId ?? null,
    channel,
    // Taken from the definition: parsing changes the order of keys, and this value is recorded.
    participants: node.config.participants as ConversationOpening['participants'],
    schema,
    outcomeSchema,
    timeoutMs,
    isManyTurns: true,
  });
  return { kind: 'wait', drafts };
}

function next(context: Context): NodeAction | null {
  const { conversation } = context.inner;
  if (conversation === null) return open(context);
  if (conversation.end !== null) return close(context, conversation, conversation.end);
  return null;
}

/** Takes the turns of a gate that asks for it. */
function nextRehearsed(context: Context): NodeAction | null {
  const { conversation } = context.inner;
  const isOpen = conversation !== null && conversation.end === null;
  if (!isOpen || context.config.mockAutoResume !== true) return next(context);
  return { kind: 'wait', drafts: rehearsed(context, conversation) };
}

/** The next mock turn, or the mock close after the last one. */
function rehearsed(context: Context, conversation: Conversation): readonly Draft[] {
  const { node, state } = context;
  const { conversationId, interruptId, last, lastSeq } = conversation;
  const { turnCount = 1 } = context.config;
  if (last.turnIndex < turnCount) {
    const turnIndex = last.turnIndex + 1;
    const turn = fullTurn(conversationId, { content: `turn ${turnIndex}` }, { turnIndex, ts: state.now });
    return exchangeDrafts(node.id, conversation, turn, { seq: state.nextSeq, now: state.now });
  }
  const value = { operation: 'close', turn: { content: 'done' }, outcome: 'done' };
  const how = { nodeId: node.id, interruptId, kind: 'conversation.exchange' as const, cause: lastSeq, at: state.now };
  return [resolvedDraft({ ...how, value, by: 'conformance' })];
}

function close(context: Context, conversation: Conversation, end: NonNullable<Conversation['end']>): NodeAction {
  const { node, state } = context;
  const closing = closingOf(conversation, end, state.now);
  const { conversationId, interruptId, last } = conversation;
  const { outcome, reason } = closing;
  const at = { seq: state.nextSeq, now: state.now };
  return {
    kind: 'complete',
    outputs: { conversationId, outcome, reason, turnCount: last.turnIndex },
    drafts: [...closingDrafts(node.id, conversation, closing, at), resumedDraft(node.id, interruptId, at.seq, outcome)],
  };
}

const driver: NodeDriver<Conversing, Config> = {
  fresh: () => ({ conversation: null }),
  evolve: evolveConversation,
  next,
  answer: conversationAnswer,
  stopped: stoppedConversation,
  // The node makes no calls: turns arrive as answers.
  callInput: () => ({}),
  returned: () => [],
  again: () => [],
};

export const conversationGate = defineNodeType({
  typeId: 'core.conversationGate',
  config,
  check: (gate) => [
    ...check(gate),
    ...(gate.config.mockAutoResume === true
      ? [{ path: ['config', 'mockAutoResume'], message: 'is for hosts under test' }]
      : []),
  ],
  driver,
  begin: () => ({ kind: 'wait', drafts: [] }),
});

/** The gate of a host under test, and of recorded runs, which may come from one. */
export const rehearsedGate = defineNodeType({
  typeId: 'core.conversationGate',
  config,
  check,
  driver: { ...driver, next: nextRehearsed },
  begin: () => ({ kind: 'wait', drafts: [] }),
});
