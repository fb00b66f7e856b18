/** A supervisor's question to the user: one conversation turn or a clarification. The answer is the node's output. */
import { askDrafts, resolvedDraft, resumedDraft } from '../core/interrupts.ts';
import type { DrivenContext, NodeAction } from '../workflow/node-type.ts';
import { closingDrafts, closingOf, openingDrafts, USUAL_CHANNEL } from './conversation-drafts.ts';
import type { Conversation } from './conversation-state.ts';
import type { Dispatch } from './dispatch-state.ts';

type Context = DrivenContext<Dispatch>;

export interface UserQuestion {
  readonly prompt: string;
  /** seq of the decision. */
  readonly decidedSeq: number;
  /** `auto` means a conversation, because this host supports them. */
  readonly routing: 'conversation' | 'clarification' | 'auto';
}

/** Whether the question is still unanswered. In a conversation one turn is enough. */
export const isAsking = ({ asked, conversation }: Dispatch): boolean =>
  asked !== null && (conversation === null || conversation.last.turnIndex === 0);

export const askUser = (context: Context, question: UserQuestion): NodeAction =>
  question.routing === 'clarification' ? clarify(context, question) : converse(context, question);

const ANSWER = 'answer';

function clarify({ inner, node, state }: Context, { prompt, decidedSeq }: UserQuestion): NodeAction {
  if (inner.answers !== null) return { kind: 'complete', outputs: { answer: inner.answers[ANSWER] ?? null } };
  const data = { questions: [{ id: ANSWER, question: prompt, schema: { type: 'string' } }] };
  const agentId = state.orchestration?.agentId;
  const drafts = askDrafts(state, { nodeId: node.id, kind: 'clarification', data, agentId });
  return { kind: 'wait', drafts: drafts.map((draft) => ({ ...draft, cause: decidedSeq })) };
}

function converse(context: Context, { prompt, decidedSeq }: UserQuestion): NodeAction {
  const { inner, state } = context;
  const { conversation } = inner;
  if (conversation !== null) return answered(context, conversation);
  const drafts = openingDrafts(context, {
    prompt,
    agentId: state.orchestration?.agentId ?? null,
    channel: USUAL_CHANNEL,
    isManyTurns: false,
    cause: decidedSeq,
  });
  return { kind: 'wait', drafts };
}

/** Completes the node: either the user closed the conversation, or the user's turn is the answer and closes it. */
function answered({ node, state }: Context, conversation: Conversation): NodeAction {
  const { interruptId, last, end } = conversation;
  const { now, nextSeq } = state;
  const closing =
    end === null ? { turn: last, outcome: last.content, reason: 'answered' } : closingOf(conversation, end, now);
  const resolved =
    end === null
      ? [resolvedDraft({ ...resolution(node.id, conversation), at: now, by: senderOf(last.principal) })]
      : [];
  const answer = closing.outcome ?? (closing.turn.role === 'system' ? null : closing.turn.content);
  const seq = nextSeq + resolved.length;
  const drafts = [
    ...resolved,
    ...closingDrafts(node.id, conversation, closing, { seq, now }),
    resumedDraft(node.id, interruptId, seq, answer),
  ];
  return { kind: 'complete', outputs: { answer }, drafts };
}

const resolution = (nodeId: string, { interruptId, last, lastSeq }: Conversation) => ({
  nodeId,
  interruptId,
  kind: 'conversation.exchange' as const,
  cause: lastSeq,
  value: { operation: 'exchange', turn: last },
});

const senderOf = (principal: unknown): string | null => (typeof principal === 'string' ? principal : null);
