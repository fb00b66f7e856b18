/** The start and the end of a run, its decisions, and what went wrong on the way. */
import { shortAgent } from '../../parts/figures.ts';
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';
import type { NoticeItem } from './items.ts';

export function takeNotice(draft: ConversationDraft, row: RunRow): void {
  if (row.type === 'run.started') {
    draft.add(row, { kind: 'start', workflowId: row.payload.workflowId, inputs: row.payload.inputs ?? {} });
    return;
  }
  takeDecision(draft, row);
  const notice = noticeOf(row);
  if (notice !== null) draft.add(row, { kind: 'notice', ...notice });
}

function takeDecision(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'agent.decided': {
      const { agentId, decision, confidence, reasoning } = row.payload;
      // A plain text was written just before; only its confidence is new.
      if (typeof decision === 'string' && confidence === undefined) return;
      draft.add(
        row,
        { kind: 'decision', title: 'Decided', decision, confidence, reason: reasoning },
        undefined,
        agentId,
      );
      return;
    }
    case 'runOrchestrator.decided': {
      const { agentId, decision } = row.payload;
      const title =
        decision.kind === 'next-worker'
          ? `Sends ${decision.nextWorkerIds.join(', ')}`
          : orchestratorTitles[decision.kind];
      const confidence = 'confidence' in decision ? decision.confidence : undefined;
      draft.add(row, { kind: 'decision', title, decision, confidence, reason: undefined }, undefined, agentId);
      return;
    }
    case 'agent.handoff': {
      const { fromAgentId, toAgentId, reason } = row.payload;
      const handoff = {
        title: `Hands over to ${shortAgent(toAgentId)}`,
        decision: row.payload.context,
        confidence: undefined,
        reason,
      };
      draft.add(row, { kind: 'decision', ...handoff }, undefined, fromAgentId);
      return;
    }
    case 'agent.verified': {
      const { agentId, verdict, target, confidence } = row.payload;
      const verified = {
        title: `Verdict on ${target}: ${verdict}`,
        decision: undefined,
        confidence,
        reason: undefined,
      };
      draft.add(row, { kind: 'decision', ...verified }, undefined, agentId);
      return;
    }
  }
}

const orchestratorTitles = { 'ask-user': 'Asks the user', terminate: 'Ends the work' } as const;

type Notice = Pick<NoticeItem, 'tone' | 'code' | 'title' | 'text' | 'result'>;

function noticeOf(row: RunRow): Notice | null {
  switch (row.type) {
    case 'run.completed':
      return {
        tone: 'good',
        title: 'Run completed',
        text: row.payload.reason ?? '',
        ...(row.payload.outputs !== undefined && { result: row.payload.outputs }),
      };
    case 'run.failed':
      return {
        tone: 'bad',
        title: `Run failed: ${row.payload.error.code}`,
        code: row.payload.error.code,
        text: row.payload.error.message,
      };
    case 'run.cancelled':
      return { tone: 'warn', title: 'Run cancelled', text: row.payload.reason ?? '' };
    case 'run.paused':
      return { tone: 'info', title: 'Run paused', text: row.payload.reason ?? '' };
    case 'run.resumed':
      return { tone: 'info', title: 'Run resumed', text: row.payload.reason ?? '' };
    case 'node.failed':
      return {
        tone: 'bad',
        title: `Node ${row.payload.nodeId} failed: ${row.payload.error.code}`,
        text: row.payload.error.message,
      };
    case 'node.retried':
      return {
        tone: 'warn',
        title: `Node ${row.payload.nodeId} is tried again`,
        text: row.payload.lastError?.message ?? '',
      };
    default:
      return rareNoticeOf(row);
  }
}

function rareNoticeOf(row: RunRow): Notice | null {
  switch (row.type) {
    case 'cairn.run.forked':
      return { tone: 'info', title: `Forked from event ${row.payload.fromSeq}`, text: row.payload.sourceRunId };
    case 'cairn.error':
      return { tone: 'warn', title: row.payload.code, text: row.payload.message };
    case 'cap.breached':
      return {
        tone: 'bad',
        title: `Limit reached: ${row.payload.kind}`,
        text: `${row.payload.observed} of ${row.payload.limit}`,
      };
    case 'envelope.refusal':
      return { tone: 'warn', title: 'The model refused', text: row.payload.refusalText ?? '' };
    case 'budget.exhausted':
      return {
        tone: 'bad',
        title: `Budget exhausted: ${row.payload.dimension}`,
        text: `${row.payload.consumed} of ${row.payload.limit}`,
      };
    case 'replay.diverged':
      return {
        tone: 'warn',
        title: `Differs from its source at event ${row.payload.atSequence}`,
        text: row.payload.divergenceKind ?? '',
      };
    default:
      return null;
  }
}
