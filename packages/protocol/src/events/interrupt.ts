/** Payloads of interrupts and of their answers. */
import { z } from 'zod';
import { count, instant, json, jsonObject, ordinal, text } from '../fields.ts';
import { interruptKind, interruptRequested } from '../interrupts/interrupts.ts';
import { refineFeedback } from '../interrupts/resume-values.ts';

export const interruptPayloads = {
  'interrupt.requested': interruptRequested,
  'interrupt.resolved': z.looseObject({
    nodeId: z.string(),
    interruptId: z.string(),
    kind: interruptKind.optional(),
    resumeValue: json.optional(),
    resolvedAt: instant.optional(),
    resolvedBy: z.string().optional(),
    /** The agent that answered for a run above. */
    agentId: text.optional(),
    /** `rejected` with reason `timeout` when nobody answered in time. */
    outcome: z.string().optional(),
    reason: z.string().optional(),
  }),
  /** A sign-in whose credential was stored. */
  'connector.authorized': z.strictObject({
    provider: text,
    credentialRef: text,
    scopes: z.array(z.string()).optional(),
  }),
  'approval.requested': z.looseObject({
    nodeId: z.string(),
    artifactId: z.string(),
    artifactType: z.string(),
    /** The legacy row says `edit` where the interrupt says `edit-accept`. */
    actions: z.array(z.enum(['accept', 'reject', 'refine', 'edit', 'ask'])).min(1),
    interruptId: z.string().optional(),
    title: z.string().optional(),
    approversList: z.array(z.string()).optional(),
    requiredApprovals: ordinal.optional(),
  }),
  'approval.received': z.looseObject({
    nodeId: z.string(),
    action: z.enum(['accept', 'reject', 'refine', 'edit-accept', 'timeout']),
    interruptId: z.string().optional(),
    decidedBy: z.string().optional(),
    decidedAt: z.string().optional(),
    comment: z.string().optional(),
    feedback: z.string().optional(),
    refineFeedback: refineFeedback.optional(),
    editedArtifactData: json.optional(),
  }),
  'approval.granted': z.strictObject({
    gateId: text,
    principal: text,
    quorumProgress: z.strictObject({ granted: count.optional(), required: ordinal.optional() }).optional(),
  }),
  'approval.rejected': z.strictObject({ gateId: text, principal: text, reason: z.string().optional() }),
  'approval.overridden': z.strictObject({ gateId: text, principal: text, reason: text }),
  'clarification.requested': z.looseObject({
    nodeId: z.string(),
    questions: z.array(z.looseObject({ id: z.string(), question: z.string(), schema: jsonObject.optional() })),
    interruptId: z.string().optional(),
  }),
  'clarification.resolved': z.looseObject({
    nodeId: z.string(),
    answers: jsonObject,
    interruptId: z.string().optional(),
    answeredBy: z.string().optional(),
  }),
} as const;
