/** Supervisor decisions with low confidence need human review before they are carried out. */
import {
  isJsonObject,
  type Json,
  type OrchestratorDecision,
  orchestratorDecision,
  payloadId,
  row,
} from '@cairn/protocol';
import { askDrafts } from '../core/interrupts.ts';
import type { Draft, RunError } from '../core/state.ts';
import type { NodeContext } from '../workflow/node-type.ts';

/** Decisions with a confidence below this need human review. */
export const DECISION_FLOOR = 0.5;

type Confident = Exclude<OrchestratorDecision, { kind: 'ask-user' }>;

export const needsLook = ({ confidence }: Confident): boolean =>
  confidence !== undefined && confidence < DECISION_FLOOR;

/** The row that reports the escalation comes before the approval request. */
export function escalated(context: NodeContext, decision: Confident, decidedSeq: number): readonly Draft[] {
  const { node, runId, state } = context;
  const [workerId] = decision.kind === 'next-worker' ? decision.nextWorkerIds : [];
  const payload = {
    confidence: decision.confidence ?? 0,
    floor: DECISION_FLOOR,
    escalationKind: 'escalate' as const,
    ...(workerId === undefined ? {} : { workerId }),
    parentRunId: runId,
    originalDecision: decision,
  };
  const question = askDrafts(state, {
    nodeId: node.id,
    kind: 'approval',
    agentId: state.orchestration?.agentId,
    data: {
      artifactId: payloadId(state.view.idToken, 'art', `decision-${decidedSeq}`),
      artifactType: 'orchestrator-decision',
      title: `The supervisor is ${decision.confidence} sure of its decision, which is less than ${DECISION_FLOOR}. Carry it out?`,
      actions: ['accept', 'reject', 'edit-accept'],
      artifactData: decision,
    },
  });
  const held = row('core.workflowChain.confidence-escalated', payload, { nodeId: node.id, cause: decidedSeq });
  return [held, ...question];
}

/** The decision after human review, or the error when it was rejected or the review timed out. */
export function ratified(
  decision: Confident,
  { value, timedOut }: { readonly value: Json; readonly timedOut: boolean },
): { readonly decision: OrchestratorDecision } | { readonly error: RunError } {
  const { action, editedArtifactData } = isJsonObject(value) ? value : {};
  if (!timedOut && action === 'accept') return { decision };
  if (!timedOut && action === 'edit-accept') {
    const edited = orchestratorDecision.safeParse(editedArtifactData);
    if (edited.success) return { decision: edited.data as OrchestratorDecision };
    const message = `The decision as it was edited is none: ${edited.error.issues.map((issue) => issue.message).join('; ')}.`;
    return { error: { code: 'validation_error', message, retryable: false } };
  }
  const message = timedOut ? 'Nobody looked at the decision in time.' : 'The decision of the supervisor was rejected.';
  return { error: { code: timedOut ? 'approval_timeout' : 'approval_rejected', message, retryable: false } };
}
