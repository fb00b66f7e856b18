/** Payloads of Cairn's own events: the closed list of `cairn.*` types, each legal as a vendor type on the wire. */
import { z } from 'zod';
import { count, errorObject, instant, json, jsonObject, ordinal, share, text } from '../fields.ts';
import { drainPolicies } from './run.ts';

export const taskStatuses = [
  'working',
  'waiting-input',
  'waiting-auth',
  'waiting-subtask',
  'completed',
  'failed',
  'canceled',
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

const timerPurposes = ['delay', 'retry', 'node-timeout', 'run-timeout', 'interrupt-expiry'] as const;
/** What doing something twice would mean. */
export const stepSafety = z.enum(['pure', 'read', 'write', 'idempotent']);

const nodeId = z.string().optional();
const modelName = z.string().optional();
const call = { nodeId: text, callId: text, attempt: ordinal };

/** What a model answered, whole (open): a later version may keep more of it. */
const turn = z.looseObject({
  text: z.string(),
  reasoning: z.string(),
  toolCalls: z.array(z.looseObject({ id: z.string(), name: z.string(), input: json, invalid: z.string().optional() })),
  finish: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other']),
  usage: z.looseObject({
    inputTokens: count,
    outputTokens: count,
    reasoningTokens: count.optional(),
    cacheReadTokens: count.optional(),
    cacheWriteTokens: count.optional(),
  }),
  provider: text,
  model: text,
  /** Of the request as it was sent. */
  cacheKey: text,
  costUsd: z.number().min(0).optional(),
});

/** Why a call of a model failed. */
const modelError = errorObject.extend({ class: text.optional(), retryAfterMs: count.optional() });
const artifact = { artifactId: text, index: count, complete: z.boolean(), nodeId };

/** Rows for operators: what the engine asked of the outside, what came back, and what it is waiting for. */
export const operatorPayloads = {
  'cairn.step.requested': z.looseObject({
    ...call,
    /** The step's typeId. */
    step: text,
    safety: stepSafety,
  }),
  'cairn.step.returned': z.looseObject({
    ...call,
    /** An outcome or an error, or what the call asks before it can go on. */
    outcome: json.optional(),
    error: errorObject.optional(),
    suspended: jsonObject.optional(),
    /** The end of a run that the node has started, or that there will be none. */
    childRunId: text.optional(),
    /** A step inside a tool: which call it belongs to, its number there from 0, and its name. */
    of: text.optional(),
    ordinal: count.optional(),
    name: z.string().optional(),
  }),
  'cairn.timer.set': z.looseObject({ timerId: text, purpose: z.enum(timerPurposes), nodeId, fireAt: instant }),
  'cairn.timer.fired': z.looseObject({ timerId: text, purpose: z.enum(timerPurposes), nodeId }),
  'cairn.cancel.requested': z.looseObject({ reason: z.string().optional(), requestedBy: z.string().optional() }),
  /** Where those are told who may answer what the run asks; the address may be a secret of its own. */
  'cairn.callback.requested': z.looseObject({ callbackUrl: text }),
  'cairn.pause.requested': z.looseObject({
    drainPolicy: z.enum(drainPolicies),
    reason: z.string().optional(),
    requestedBy: z.string().optional(),
  }),
  'cairn.model.requested': z.looseObject({
    ...call,
    safety: stepSafety,
    agentId: text.optional(),
    model: modelName,
    provider: modelName,
    options: jsonObject.optional(),
  }),
  /** Either a turn or an error. */
  'cairn.model.returned': z.looseObject({ ...call, turn: turn.optional(), error: modelError.optional() }),
  /** What was streamed of this attempt counts no more. */
  'cairn.model.abandoned': z.looseObject({ ...call, reason: z.string().optional() }),
  /** What an agent wants to know later; `memory.written` tells others that it did, without the content. */
  'cairn.memory.kept': z.looseObject({
    memoryRef: text,
    memoryId: text,
    content: z.string(),
    tags: z.array(z.string()),
    expiresAt: instant.optional(),
    /** The turn that wrote it, which does not see it yet. */
    turn: z.string(),
  }),
  'cairn.memory.dropped': z.looseObject({ memoryRef: text, memoryId: text, turn: z.string() }),
  /** What a run may use that a node starts, and what it had used when it ended. */
  'cairn.budget.granted': z.looseObject({ nodeId, childRunId: text.optional(), budget: jsonObject }),
  'cairn.budget.returned': z.looseObject({ nodeId, childRunId: text.optional(), spent: jsonObject }),
  'cairn.internal.thought': z.looseObject({
    iteration: count,
    stage: z.enum(['pre-llm', 'post-llm', 'pre-tool', 'post-tool']),
    reasoning: z.string(),
    state: jsonObject,
  }),
  'cairn.internal.llm_call': z.looseObject({
    iteration: count,
    model: z.string(),
    messageCount: count,
    toolCount: count,
  }),
  'cairn.internal.checkpoint': z.looseObject({ iteration: count }),
} as const;

/** Rows every reader of the run may see. */
export const clientPayloads = {
  'cairn.task.status': z.looseObject({ status: z.enum(taskStatuses) }),
  'cairn.tool.progress': z.looseObject({ callId: text, progress: share, message: z.string().optional() }),
  'cairn.artifact.chunk': z.looseObject({ ...artifact, data: z.string().optional() }),
  'cairn.artifact.rows': z.looseObject({ ...artifact, rows: z.array(jsonObject).optional() }),
  'cairn.input.forwarded': z.looseObject({ inputId: text }),
  'cairn.error': z.looseObject({
    code: text,
    message: text,
    retryable: z.boolean(),
    scope: z.enum(['task', 'llm', 'tool', 'input', 'auth', 'artifact', 'subtask']),
    refId: z.string().optional(),
    attempt: count.optional(),
    retryAfterMs: count.optional(),
    details: jsonObject.optional(),
  }),
} as const;
