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
const stepSafeties = ['pure', 'read', 'write', 'idempotent'] as const;

const nodeId = z.string().optional();
const model = z.string().optional();
const artifact = { artifactId: text, index: count, complete: z.boolean(), nodeId };

/** Rows for operators: what the engine asked of the outside, what came back, and what it is waiting for. */
export const operatorPayloads = {
  'cairn.step.requested': z.looseObject({
    nodeId: text,
    callId: text,
    /** The step's typeId. */
    step: text,
    attempt: ordinal,
    safety: z.enum(stepSafeties),
  }),
  'cairn.step.returned': z.looseObject({
    nodeId: text,
    callId: text,
    attempt: ordinal,
    /** Either an outcome or an error. */
    outcome: json.optional(),
    error: errorObject.optional(),
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
  'cairn.model.requested': z.looseObject({ nodeId, callId: text, model, attempt: ordinal.optional() }),
  'cairn.model.returned': z.looseObject({ nodeId, callId: text, model, error: errorObject.optional() }),
  'cairn.model.abandoned': z.looseObject({ nodeId, callId: text, reason: z.string().optional() }),
  'cairn.budget.granted': z.looseObject({ nodeId, budget: jsonObject }),
  'cairn.budget.returned': z.looseObject({ nodeId, spent: jsonObject }),
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
