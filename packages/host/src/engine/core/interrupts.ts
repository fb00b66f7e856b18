/** Builds the rows that open and resolve interrupts. */
import {
  type ApprovalAction,
  type InterruptData,
  type InterruptKind,
  isoTime,
  type Json,
  type JsonObject,
  type PayloadOf,
  payloadId,
  row,
  type Urgency,
} from '@cairn/protocol';
import { forwarded, routingOf } from '../coordination/routing.ts';
import type { PayloadDraft } from './payload-draft.ts';
import type { Draft, RunState } from './state.ts';
import { isDeferred } from './task-status.ts';

export interface Question {
  readonly nodeId: string;
  readonly kind: InterruptKind;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject | undefined;
  readonly timeoutMs?: number | undefined;
  readonly urgency?: Urgency | undefined;
  /** The agent that asks. Default: the agent acting in the node. */
  readonly agentId?: string | undefined;
  /** Extra fields of `node.suspended`. If set, that row is written before the request. */
  readonly suspended?: Partial<PayloadOf<'node.suspended'>> | undefined;
  /** Number of earlier interrupts in the same decision. */
  readonly ahead?: number;
  /** Whether more is asked right after it. */
  readonly isFollowed?: boolean;
}

/**
 * Returns `interrupt.requested`, the older row of its kind, and `node.suspended`; the last comes first if it has extra
 * fields. In a child run, another row says that people are asked, unless an agent above is asked first.
 */
export function askDrafts(state: Readonly<RunState>, question: Question): Draft[] {
  const { nodeId, kind, data } = question;
  const number = state.interruptCount + (question.ahead ?? 0);
  const { payloadRunId: runId, view } = state;
  const interruptId = nextInterruptId(state, nodeId, question.ahead);
  const key = `${runId}:${nodeId}:${number}`;
  const asked: PayloadDraft<'interrupt.requested'> = { runId, nodeId, interruptId, kind, key, data };
  if (question.resumeSchema !== undefined) asked.resumeSchema = question.resumeSchema;
  if (question.timeoutMs !== undefined) asked.timeoutMs = question.timeoutMs;
  if (question.urgency !== undefined) asked.urgency = question.urgency;
  asked.requestedAt = isoTime(state.now);
  const routed = routingOf(state, question);
  if (routed === 'agent') asked.routedTo = 'agent';
  const agentId = question.agentId ?? view.nodeStates[nodeId]?.agentId ?? null;
  if (agentId !== null) asked.agentId = agentId;
  const older = olderRequest(nodeId, interruptId, question);
  const rows: Draft[] = [row('interrupt.requested', asked, { nodeId }), ...(older === null ? [] : [older])];
  const others = isDeferred(state, nodeId, question.isFollowed ?? false) ? { othersRun: true as const } : {};
  const payload = { nodeId, interruptId, kind, key, ...question.suspended, ...others };
  const suspended = row('node.suspended', payload, { nodeId });
  const told = routed === 'user' ? [forwarded(interruptId)] : [];
  return question.suspended === undefined ? [...rows, suspended, ...told] : [suspended, ...rows, ...told];
}

/** The id of the next interrupt of a node. `ahead` counts the interrupts before it in the same decision. */
export function nextInterruptId({ interruptCount, view }: Readonly<RunState>, nodeId: string, ahead = 0): string {
  const local = `${interruptCount + ahead}_${nodeId}`;
  return (view.idToken === null ? `int_${local}` : payloadId(view.idToken, 'int', local)).slice(0, 128);
}

/** Maps an action to its name in the older row. */
const olderAction = (action: ApprovalAction): Exclude<ApprovalAction, 'edit-accept'> | 'edit' =>
  action === 'edit-accept' ? 'edit' : action;

function olderRequest(nodeId: string, interruptId: string, { kind, data }: Question): Draft | null {
  if (kind === 'clarification') {
    const { questions } = dataOf<'clarification'>(data);
    return row('clarification.requested', { nodeId, interruptId, questions }, { nodeId });
  }
  if (kind !== 'approval') return null;
  const { artifactId, artifactType, title, approversList, requiredApprovals, actions } = dataOf<'approval'>(data);
  const payload = {
    nodeId,
    interruptId,
    artifactId,
    artifactType,
    title,
    ...(approversList === undefined ? {} : { approversList }),
    ...(requiredApprovals === undefined ? {} : { requiredApprovals }),
    actions: actions.map(olderAction),
  };
  return row('approval.requested', payload, { nodeId });
}

/** Casts the data of an interrupt to its kind. Workflow registration has already validated the node that asks. */
export const dataOf = <Kind extends InterruptKind>(data: JsonObject): InterruptData<Kind> =>
  data as InterruptData<Kind>;

export interface Resolution {
  readonly nodeId: string;
  readonly interruptId: string;
  readonly kind: InterruptKind;
  readonly cause: number;
  readonly at: number;
  readonly value: Json;
  readonly by: string | null;
  readonly outcome?: string | undefined;
}

/** Returns `interrupt.resolved`, the older row of its kind, and `node.resumed`. */
export function resolveDrafts(resolution: Resolution, older: Draft | null): Draft[] {
  const { nodeId, interruptId, cause, value } = resolution;
  return [
    resolvedDraft(resolution),
    ...(older === null ? [] : [older]),
    resumedDraft(nodeId, interruptId, cause, value),
  ];
}

export function resolvedDraft({ nodeId, interruptId, kind, cause, at, value, by, outcome }: Resolution): Draft {
  const resolvedAt = isoTime(at);
  const payload: PayloadDraft<'interrupt.resolved'> = { nodeId, interruptId, kind, resumeValue: value, resolvedAt };
  if (by !== null) payload.resolvedBy = by;
  if (outcome !== undefined) payload.outcome = outcome;
  return row('interrupt.resolved', payload, { nodeId, cause });
}

export const resumedDraft = (nodeId: string, interruptId: string, cause: number, resumeValue: Json): Draft =>
  row('node.resumed', { nodeId, interruptId, resumeValue }, { nodeId, cause });

/** The interrupt of a canceled tool call. */
export interface CanceledQuestion {
  readonly nodeId: string;
  readonly interruptId: string;
  readonly at: number;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly cause?: number | undefined;
}

/** Resolves the question of a canceled tool call, without an answer. */
export function canceledDraft({ view }: Readonly<RunState>, question: CanceledQuestion): Draft {
  const { nodeId, interruptId, at, by, reason, cause } = question;
  const payload: PayloadDraft<'interrupt.resolved'> = {
    nodeId,
    interruptId,
    kind: view.interrupts[interruptId]?.kind ?? 'custom',
    outcome: 'cancelled',
    reason: 'canceled',
    resolvedAt: isoTime(at),
  };
  if (by !== undefined) payload.resolvedBy = by;
  if (reason !== undefined) payload.resumeValue = { reason };
  return row('interrupt.resolved', payload, { nodeId, cause });
}

/** Resolves an expired interrupt as rejected, never as approved. */
export function expiryDrafts(state: RunState, nodeId: string, interruptId: string, cause: number): Draft[] {
  const kind = state.view.interrupts[interruptId]?.kind ?? 'custom';
  const resolvedAt = isoTime(state.now);
  const where = { nodeId, cause };
  const resolved = { nodeId, interruptId, kind, outcome: 'rejected', reason: 'timeout', resolvedAt };
  const drafts: Draft[] = [row('interrupt.resolved', resolved, where)];
  if (kind === 'approval') {
    drafts.push(row('approval.received', { nodeId, interruptId, action: 'timeout', decidedAt: resolvedAt }, where));
  }
  // A conversation is closed first, and its node continues from that.
  if (kind !== 'conversation.exchange') drafts.push(row('node.resumed', { nodeId, interruptId }, where));
  return drafts;
}
