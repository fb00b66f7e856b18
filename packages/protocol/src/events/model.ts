/** Payloads of model calls: usage, refusals, retries and budgets. */
import { z } from 'zod';
import { count, ordinal, text } from '../fields.ts';

const nodeId = z.string();
const missingCapabilities = z.array(z.string());
const retryReason = z.union([
  z.enum(['schema-violation', 'truncation', 'type-drift', 'type-mismatch', 'refusal', 'parse-error', 'unknown']),
  z.string().regex(/^x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*$/),
]);
const dimension = z.enum(['tokens', 'cost', 'toolCalls', 'retries']);
const amount = z.number().min(0);

export const modelPayloads = {
  'provider.usage': z.strictObject({
    provider: text,
    model: text,
    inputTokens: count,
    outputTokens: count,
    totalTokens: count.optional(),
    costEstimateUsd: amount.optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional(),
    cacheHit: z.boolean().optional(),
    cacheReadTokens: count.optional(),
    cacheWriteTokens: count.optional(),
    nodeId: z.string().optional(),
    traceId: z.string().optional(),
  }),
  'model.capability.substituted': z.strictObject({
    nodeId,
    originalProvider: z.string(),
    originalModel: z.string(),
    fallbackProvider: z.string(),
    fallbackModel: z.string(),
    missingCapabilities,
  }),
  'model.capability.insufficient': z.strictObject({
    nodeId,
    provider: z.string(),
    model: z.string(),
    missingCapabilities,
    fallbackAttempted: z.boolean().optional(),
  }),
  'envelope.retry.attempted': z.strictObject({
    nodeId,
    attempt: ordinal.max(16),
    reason: retryReason,
    previousError: z.string().nullable().optional(),
  }),
  'envelope.retry.exhausted': z.strictObject({
    nodeId,
    totalAttempts: ordinal,
    finalReason: retryReason,
    finalError: z.string().nullable().optional(),
  }),
  'envelope.refusal': z.strictObject({
    nodeId,
    provider: z.string(),
    model: z.string(),
    refusalText: z.string().nullable().optional(),
    safetyCategory: z.string().nullable().optional(),
  }),
  'envelope.truncated': z.strictObject({
    nodeId,
    provider: z.string(),
    model: z.string(),
    stopReason: z.enum(['max_tokens', 'length', 'stop_sequence', 'unknown']),
    partialPayloadAvailable: z.boolean().optional(),
    outputTokenCount: count.nullable().optional(),
  }),
  'envelope.nlToFormat.engaged': z.strictObject({
    nodeId,
    originalEnvelopeType: z.string(),
    fallbackCalls: ordinal.optional(),
  }),
  'envelope.recovery.applied': z.strictObject({
    nodeId,
    path: z.enum(['direct', 'jsonrepair', 'markdown-fence', 'brace-walker', 'custom']),
    byteOffset: count.nullable().optional(),
  }),
  'egress.decided': z.looseObject({
    decision: z.enum(['allowed', 'denied', 'downgraded', 'approval-required']),
    destination: text,
    credentialId: text.optional(),
    reason: z
      .enum([
        'ok',
        'out-of-audience',
        'expired',
        'ssrf-blocked',
        'provenance-unevaluable',
        'scope-denied',
        'policy-denied',
      ])
      .optional(),
    auditCorrelationId: text.optional(),
  }),
  'budget.reserved': z.strictObject({
    effectiveBudget: z.strictObject({
      maxTokens: count.optional(),
      maxCostUsd: amount.optional(),
      maxToolCalls: count.optional(),
      maxRetries: count.optional(),
    }),
    scope: z.enum(['run', 'workflow', 'agent', 'project']),
  }),
  'budget.consumed': z.strictObject({
    dimension,
    consumed: amount,
    limit: amount,
    remaining: z.number().optional(),
  }),
  'budget.threshold.crossed': z.strictObject({
    dimension,
    consumed: amount,
    limit: amount,
    percent: z.number().min(0).max(100),
  }),
  'budget.exhausted': z.strictObject({ dimension, consumed: amount, limit: amount }),
} as const;
