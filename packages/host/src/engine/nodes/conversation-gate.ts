/** `core.conversationGate`: opens a conversation and goes on once somebody closes it; every turn between is recorded as it is taken. */
import {
  type Json,
  type JsonObject,
  MAX_PARTICIPANTS,
  participant,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@cairn/protocol';
import { z } from 'zod';
import { resolvedDraft, resumedDraft } from '../core/interrupts.ts';
import type { Draft } from '../core/state.ts';
import { MAX_SPAN_MS } from '../workflow/node-settings.ts';
import type { DrivenContext, NodeAction, NodeDriver, NodeType } from '../workflow/node-type.ts';
import {
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
import { schemaProblems } from './gate-nodes.ts';

const settings = z.strictObject({
  prompt: z.string().min(1).optional(),
  channel: z.string().min(1).max(256).optional(),
  participants: z.array(participant).min(1).max(MAX_PARTICIPANTS).optional(),
  schema: z.record(z.string(), z.json()).optional(),
  outcomeSchema: z.record(z.string(), z.json()).optional(),
  timeoutMs: z.int().min(1).max(MAX_SPAN_MS).optional(),
  lifecycle: z.literal('open-exchange-close').optional(),
  /** Takes its turns itself; for tests of everything around it. */
  mockAutoResume: z.boolean().optional(),
  turnCount: z.int().min(0).max(100).optional(),
});

type Settings = z.infer<typeof settings>;
type Context = DrivenContext<Conversing>;

const settingsOf = ({ node }: Context): Settings => node.config as unknown as Settings;

function problemsOf(node: WorkflowNode, definition: WorkflowDefinition): readonly string[] {
  const { data: config, error } = settings.safeParse(node.config);
  if (config === undefined) {
    return error.issues.map(({ path, message }) => `${['config', ...path].join('.')}: ${message}`);
  }
  const problems = channelProblems(node, config.channel ?? USUAL_CHANNEL, definition);
  for (const name of ['schema', 'outcomeSchema'] as const) {
    if (config[name] !== undefined) problems.push(...schemaProblems(config[name] as Json, `config.${name}`));
  }
  if (config.channel !== undefined && config.channel in {}) problems.push(`the name ${config.channel} is reserved`);
  problems.push(...rosterProblems(config, node));
  if (config.turnCount !== undefined && config.mockAutoResume !== true) {
    problems.push('config.turnCount says how many turns config.mockAutoResume takes');
  }
  if (config.mockAutoResume === true && !definition.id.startsWith('conformance-')) {
    problems.push('config.mockAutoResume is for workflows whose id begins with conformance-');
  }
  return problems;
}

function rosterProblems({ participants }: Settings, { agent }: WorkflowNode): string[] {
  if (participants === undefined) return [];
  const ids = participants.map(({ agentId }) => agentId);
  const problems = ids
    .filter((id, index) => ids.indexOf(id) !== index)
    .map((id) => `config.participants names ${id} twice`);
  if (agent !== undefined && !ids.includes(agent.agentId)) {
    problems.push(`the agent ${agent.agentId} opens the conversation and is not among config.participants`);
  }
  return problems;
}

function open(context: Context): NodeAction {
  const { node, inputs } = context;
  const { prompt, channel = USUAL_CHANNEL, participants, schema, outcomeSchema, timeoutMs } = settingsOf(context);
  const given = inputs.prompt;
  const words = typeof given === 'string' && given !== '' ? given : (prompt ?? node.name);
  const drafts = openingDrafts(context, {
    prompt: words === '' ? `Node ${node.id} has opened a conversation.` : words,
    agentId: node.agent?.agentId ?? null,
    channel,
    participants: participants as readonly JsonObject[] | undefined,
    schema: schema as JsonObject | undefined,
    outcomeSchema: outcomeSchema as JsonObject | undefined,
    timeoutMs,
    isManyTurns: true,
  });
  return { kind: 'wait', drafts };
}

function next(context: Context): NodeAction | null {
  const { conversation } = context.inner;
  if (conversation === null) return open(context);
  if (conversation.end !== null) return close(context, conversation, conversation.end);
  return settingsOf(context).mockAutoResume === true
    ? { kind: 'wait', drafts: rehearsed(context, conversation) }
    : null;
}

/** The next turn that nobody takes, or the last. */
function rehearsed(context: Context, conversation: Conversation): readonly Draft[] {
  const { node, state } = context;
  const { conversationId, interruptId, last, lastSeq } = conversation;
  const { turnCount = 1 } = settingsOf(context);
  if (last.turnIndex < turnCount) {
    const turnIndex = last.turnIndex + 1;
    const turn = fullTurn(conversationId, { content: `turn ${turnIndex}` }, { turnIndex, ts: state.now });
    return exchangeDrafts(node.id, conversation, turn, { seq: state.nextSeq, now: state.now });
  }
  const value = { operation: 'close', turn: { content: 'done' }, outcome: 'done' };
  const how = { nodeId: node.id, interruptId, kind: 'conversation.exchange', cause: lastSeq, at: state.now };
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

const driver: NodeDriver<Conversing> = {
  fresh: () => ({ conversation: null }),
  evolve: evolveConversation,
  next,
  stopped: stoppedConversation,
  // It makes no calls: whoever speaks does so from outside.
  callInput: () => ({}),
  returned: () => [],
  again: () => [],
};

export const conversationGate: NodeType = {
  typeId: 'core.conversationGate',
  driver: driver as unknown as NodeDriver,
  check: problemsOf,
  begin: () => ({ kind: 'wait', drafts: [] }),
};
