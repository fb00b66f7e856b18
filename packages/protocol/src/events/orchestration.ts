/** Payloads of supervisors and the chains of runs they start. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { agentId, errorObject, ordinal, runId, share, text } from '../fields.ts';

/** What a supervisor may decide (closed). */
export const orchestratorDecision = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('next-worker'),
      nextWorkerIds: z.array(text.max(256)).min(1),
      confidence: share.optional(),
    }),
    z.strictObject({ kind: z.literal('ask-user'), prompt: text }),
    z.strictObject({
      kind: z.literal('terminate'),
      reason: text.optional(),
      confidence: share.optional(),
      successCriteria: z.array(z.strictObject({ key: text, met: z.boolean() })).optional(),
    }),
  ])
  .meta({ id: 'OrchestratorDecision' });

export type OrchestratorDecision = DataOf<typeof orchestratorDecision>;

const causationHostId = text.optional();

export const orchestrationPayloads = {
  'runOrchestrator.decided': z.strictObject({
    agentId,
    decision: orchestratorDecision,
    iteration: ordinal.optional(),
    causationHostId,
  }),
  'core.workflowChain.event': z.strictObject({
    phase: z.enum([
      'dispatch.began',
      'dispatch.succeeded',
      'dispatch.failed',
      'child.completed',
      'child.failed',
      'child.cancelled',
      'output.harvested',
    ]),
    workerId: text,
    parentRunId: runId,
    /** Set from `dispatch.succeeded` on. */
    childRunId: runId.optional(),
    harvestedKeys: z.array(z.string()).optional(),
    attestation: z.strictObject({ checksum: text, algorithm: z.literal('sha256') }).optional(),
    error: errorObject.optional(),
    causationHostId,
  }),
  'core.workflowChain.confidence-escalated': z.strictObject({
    confidence: share,
    floor: z.number().min(0.5).max(1),
    escalationKind: z.enum(['clarify', 'escalate']),
    workerId: text.optional(),
    parentRunId: runId,
    originalDecision: orchestratorDecision.optional(),
    causationHostId,
  }),
} as const;
