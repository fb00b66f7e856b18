/** Payloads of node events, from start to end. */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import { count, errorObject, json, jsonObject, ordinal, runId, share, text } from '../fields.ts';
import { interruptKind } from '../interrupts/interrupts.ts';

/** What may set the confidence threshold, strongest first. */
export const thresholdRules = ['run-option', 'manifest', 'default'] as const;
export type ThresholdRule = (typeof thresholdRules)[number];

/** The outcome of each outgoing edge. Recorded, so that no fold evaluates a condition. */
const edgeOutcomes = z.record(z.string(), z.enum(['taken', 'not-taken', 'failed']));

export const nodePayloads = {
  'node.started': z.looseObject({
    nodeId: text,
    typeId: text,
    /** 0 for the first. */
    attempt: count.optional(),
    /** The number of earlier visits in the run. */
    visit: count.optional(),
    agent: agentRef.optional(),
    timeoutMs: ordinal.optional(),
    inputs: jsonObject.optional(),
  }),
  'node.completed': z.looseObject({
    nodeId: text,
    outputs: jsonObject.optional(),
    durationMs: count.optional(),
    edges: edgeOutcomes.optional(),
    /** The agent of `node.started`. */
    agent: agentRef.optional(),
    /** The agent that finished the work, if it is another one. */
    handedTo: agentRef.optional(),
    /** Present if the node ends the run. */
    endsRun: z.looseObject({ reason: z.string().nullable() }).optional(),
  }),
  'node.failed': z.looseObject({
    nodeId: text,
    error: errorObject,
    attempts: ordinal.optional(),
    edges: edgeOutcomes.optional(),
  }),
  'node.suspended': z.looseObject({
    nodeId: text,
    interruptId: text,
    kind: interruptKind.optional(),
    key: text.optional(),
    reason: z.string().optional(),
    /** For a decision below the confidence threshold, with the rule that set the threshold. */
    agentId: text.optional(),
    threshold: share.optional(),
    observed: share.optional(),
    decision: json.optional(),
    rule: z.enum(thresholdRules).optional(),
    conversationId: text.optional(),
    /** Other work of the run goes on. The task waits once a `cairn.task.status` says so. */
    othersRun: z.literal(true).optional(),
  }),
  'node.suspend-failed': z.looseObject({ nodeId: text, error: errorObject }),
  'node.resumed': z.looseObject({
    nodeId: text,
    interruptId: z.string().optional(),
    resumeValue: json.optional(),
  }),
  'node.retried': z.looseObject({
    nodeId: text,
    attempt: ordinal,
    delayMs: count.optional(),
    lastError: errorObject.optional(),
  }),
  'node.skipped': z.looseObject({ nodeId: text, reason: z.string().optional(), edges: edgeOutcomes.optional() }),
  'node.cancelled': z.looseObject({ nodeId: text, reason: z.string().optional() }),
  'node.dispatched': z.strictObject({
    childRunId: runId,
    childWorkflowId: text,
    childStatus: z.string().optional(),
  }),
} as const;
