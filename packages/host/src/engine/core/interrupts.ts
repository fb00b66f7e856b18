/** The rows by which a node begins to wait for an answer, and by which that wait ends. */
import { isoTime, type Json, type JsonObject } from '@cairn/protocol';
import type { Draft, RunState } from './state.ts';

export interface Question {
  readonly nodeId: string;
  readonly kind: string;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject | undefined;
  readonly timeoutMs?: number | undefined;
  /** Who asks. Default: the agent that acts in the node. */
  readonly agentId?: string | undefined;
  /** More for `node.suspended`. A node that says why it is suspended does so before it asks. */
  readonly suspended?: JsonObject | undefined;
  /** Questions of the same decision before this one. */
  readonly ahead?: number;
}

const client = 'client' as const;

/** `interrupt.requested`, the older row of its kind, and `node.suspended`; the last comes first where it says more. */
export function askDrafts(state: Readonly<RunState>, question: Question): Draft[] {
  const { nodeId, kind, data } = question;
  const number = state.interruptCount + (question.ahead ?? 0);
  const interruptId = `int_${number}_${nodeId}`.slice(0, 128);
  const key = `${state.runId}:${nodeId}:${number}`;
  const asked: Record<string, Json> = { runId: state.runId, nodeId, interruptId, kind, key, data };
  if (question.resumeSchema !== undefined) asked.resumeSchema = question.resumeSchema;
  if (question.timeoutMs !== undefined) asked.timeoutMs = question.timeoutMs;
  asked.requestedAt = isoTime(state.now);
  const agentId = question.agentId ?? state.view.nodeStates[nodeId]?.agentId ?? null;
  if (agentId !== null) asked.agentId = agentId;
  const older = olderRequest(nodeId, interruptId, kind, data);
  const rows: Draft[] = [
    { type: 'interrupt.requested', nodeId, audience: client, payload: asked },
    ...(older === null ? [] : [older]),
  ];
  const payload = { nodeId, interruptId, kind, key, ...question.suspended };
  const suspended: Draft = { type: 'node.suspended', nodeId, audience: client, payload };
  return question.suspended === undefined ? [...rows, suspended] : [suspended, ...rows];
}

function olderRequest(nodeId: string, interruptId: string, kind: string, data: JsonObject): Draft | null {
  if (kind === 'clarification') {
    const payload = { nodeId, interruptId, questions: data.questions as Json };
    return { type: 'clarification.requested', nodeId, audience: client, payload };
  }
  if (kind !== 'approval') return null;
  const payload: Record<string, Json> = { nodeId, interruptId };
  for (const name of ['artifactId', 'artifactType', 'title', 'approversList', 'requiredApprovals']) {
    const value = data[name];
    if (value !== undefined) payload[name] = value;
  }
  // The older row knows the action by its older name.
  payload.actions = (data.actions as readonly string[]).map((action) => (action === 'edit-accept' ? 'edit' : action));
  return { type: 'approval.requested', nodeId, audience: client, payload };
}

export interface Resolution {
  readonly nodeId: string;
  readonly interruptId: string;
  readonly kind: string;
  readonly cause: number;
  readonly at: number;
  readonly value: Json;
  readonly by: string | null;
}

/** `interrupt.resolved`, the older row of its kind, and `node.resumed`. */
export function resolveDrafts(resolution: Resolution, older: Draft | null): Draft[] {
  const { nodeId, interruptId, cause, value } = resolution;
  return [
    resolvedDraft(resolution),
    ...(older === null ? [] : [older]),
    resumedDraft(nodeId, interruptId, cause, value),
  ];
}

export function resolvedDraft({ nodeId, interruptId, kind, cause, at, value, by }: Resolution): Draft {
  const payload: Record<string, Json> = { nodeId, interruptId, kind, resumeValue: value };
  payload.resolvedAt = isoTime(at);
  if (by !== null) payload.resolvedBy = by;
  return { type: 'interrupt.resolved', nodeId, cause, audience: client, payload };
}

export const resumedDraft = (nodeId: string, interruptId: string, cause: number, resumeValue: Json): Draft => ({
  type: 'node.resumed',
  nodeId,
  cause,
  audience: client,
  payload: { nodeId, interruptId, resumeValue },
});

/** Nobody answered in time: that is a rejection, never an approval. */
export function expiryDrafts(state: RunState, nodeId: string, interruptId: string, cause: number): Draft[] {
  const kind = state.view.interrupts[interruptId]?.kind ?? 'custom';
  const resolvedAt = isoTime(state.now);
  const drafts: Draft[] = [
    {
      type: 'interrupt.resolved',
      nodeId,
      cause,
      audience: client,
      payload: { nodeId, interruptId, kind, outcome: 'rejected', reason: 'timeout', resolvedAt },
    },
  ];
  if (kind === 'approval') {
    const payload = { nodeId, interruptId, action: 'timeout', decidedAt: resolvedAt };
    drafts.push({ type: 'approval.received', nodeId, cause, audience: client, payload });
  }
  // A conversation is closed first; its node goes on with that.
  if (kind !== 'conversation.exchange') {
    drafts.push({ type: 'node.resumed', nodeId, cause, audience: client, payload: { nodeId, interruptId } });
  }
  return drafts;
}
