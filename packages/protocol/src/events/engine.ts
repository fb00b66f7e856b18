/** Payloads of engine events: channels, artifacts, output, limits, leases, versions and replays. */
import { z } from 'zod';
import { count, instant, json, jsonObject, ordinal, runId, text } from '../fields.ts';
import { channelReducerName } from '../runs/workflow-definition.ts';

const capKinds = [
  'clarification',
  'schema',
  'envelopes',
  'node-executions',
  'wasm-memory',
  'wasm-fuel',
  'wasm-execution-time',
  'run-duration',
  'loop-iterations',
  'budget-tokens',
  'budget-cost',
  'budget-tool-calls',
  'budget-retries',
  // Ordered by the text of RFC 0002 and missing from the published list.
  'confidence-escalation-suppressed',
  // Ordered by the text of RFC 0007.
  'dispatch-iterations',
] as const;

const leaseHost = z.enum(['browser', 'cloud']);
const lease = z.looseObject({
  leaseId: text,
  host: leaseHost,
  instanceId: z.string().optional(),
  expiresAt: instant.optional(),
  previousHost: leaseHost.optional(),
});

const chunkMeta = z.strictObject({
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  logprobs: z.array(json).optional(),
  toolCalls: z.array(json).optional(),
  model: z.string().optional(),
  usage: z
    .looseObject({
      promptTokens: count.optional(),
      completionTokens: count.optional(),
      totalTokens: count.optional(),
    })
    .optional(),
  provider: z.string().optional(),
  providerExtensions: jsonObject.optional(),
});

export const enginePayloads = {
  'channel.written': z.strictObject({
    channel: text.max(256),
    value: json,
    reducer: channelReducerName,
    writtenAt: instant,
    nodeId: text.max(128).optional(),
    schemaVersion: ordinal.optional(),
    sourceEngineId: text.max(256).optional(),
    sourceRunId: text.max(128).optional(),
  }),
  'artifact.created': z.looseObject({
    artifactId: text,
    artifactType: text,
    nodeId: z.string().optional(),
    version: z.string().optional(),
    summary: z.string().optional(),
    registered: z.boolean().optional(),
    registrationSource: z.enum(['pack', 'host']).optional(),
    /** The whole record, for the type `data`. */
    data: jsonObject.optional(),
    /** Of the whole content of a file or a dataset. */
    sha256: z.string().optional(),
    bytes: count.optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    callId: z.string().optional(),
    agentId: z.string().optional(),
  }),
  'output.chunk': z.looseObject({
    nodeId: text,
    runId,
    chunk: z.string(),
    isLast: z.boolean(),
    channel: z.string().optional(),
    meta: chunkMeta.optional(),
    /** In the last chunk of a text that is too long for an event: the artifact that holds it. */
    large: jsonObject.optional(),
  }),
  'log.appended': z.looseObject({
    level: z.enum(['debug', 'info', 'warn', 'error']),
    message: z.string(),
    nodeId: z.string().optional(),
    fields: jsonObject.optional(),
  }),
  'version.pinned': z.looseObject({ changeId: text, version: count, nodeId: z.string().optional() }),
  'workflow.restored': z.looseObject({ fromSnapshotSeq: count.optional(), engineVersion: z.string().optional() }),
  'workflow.loopback-limit': z.looseObject({ nodeId: z.string(), iterations: ordinal, limit: ordinal.optional() }),
  'workflow.stalled': z.looseObject({ stalledForMs: count.optional(), lastNodeId: z.string().optional() }),
  'cap.breached': z.looseObject({
    kind: z.enum(capKinds),
    limit: z.number().min(0),
    observed: z.number().min(0),
    /** Absent for `run-duration`, `loop-iterations` and budgets, which are limits of the run. */
    nodeId: z.string().optional(),
  }),
  'lease.acquired': lease,
  'lease.renewed': lease,
  'lease.lost': lease,
  'lease.handed-off': z.looseObject({
    leaseId: text,
    fromHost: leaseHost,
    toHost: leaseHost,
    reason: z.string().optional(),
  }),
  'replay.diverged': z.looseObject({
    sourceRunId: text,
    atSequence: count,
    originalEventId: z.string().optional(),
    divergenceKind: z.enum(['output', 'missing', 'extra', 'type-mismatch']).optional(),
    divergencePoint: z.string().optional(),
  }),
  'replay.divergedAtRefusal': z.strictObject({
    sourceRunId: text,
    atSequence: count,
    originalEnvelopeKind: z.enum(['valid', 'refusal']),
    replayEnvelopeKind: z.enum(['valid', 'refusal']),
    nodeId: text.optional(),
    originalEventId: z.string().optional(),
    refusalReason: z.string().optional(),
  }),
  'authorization.decided': z.strictObject({
    principal: text,
    action: text,
    resource: text,
    allowed: z.boolean(),
    reason: z.string().optional(),
  }),
} as const;
