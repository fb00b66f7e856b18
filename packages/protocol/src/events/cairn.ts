/** Payloads of Cairn's own events: the closed list of `cairn.*` types, each legal as a vendor type on the wire. */
import { z } from 'zod';
import { count, errorObject, instant, json, jsonObject, ordinal, runBudget, runId, share, text } from '../fields.ts';
import { forkModes } from '../runs/fork-modes.ts';
import { callRule } from '../runs/fork-run.ts';
import { drainPolicies, runLimits } from './run.ts';

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

const timerPurposes = ['delay', 'retry', 'node-timeout', 'run-timeout', 'interrupt-expiry', 'cancel-deadline'] as const;
/** Whether a call may be repeated. */
export const stepSafety = z.enum(['pure', 'read', 'write', 'idempotent']);

const nodeId = z.string().optional();
const modelName = z.string().optional();
const call = { nodeId: text, callId: text, attempt: ordinal };

/** How many consecutive lease holders were lost during the call. */
export const recoveries = count.optional();

/** Why a model stopped. */
export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other'] as const;

/** A model's complete response (open: a later version may record more). */
const turn = z.looseObject({
  text: z.string(),
  reasoning: z.string(),
  toolCalls: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string(),
      input: json,
      invalid: z.string().optional(),
      meta: jsonObject.optional(),
    }),
  ),
  finish: z.enum(finishReasons),
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
  /** The number of text chunks streamed. */
  chunks: count,
  /** The end of the text that was not streamed. The last chunk carries it. */
  tail: z.string(),
  /** The version of the provider interface behind it. */
  specification: text,
  /** References to the artifacts that hold a text or a reasoning too long for the row, which has their beginning. */
  large: z.looseObject({ text: jsonObject.optional(), reasoning: jsonObject.optional() }).optional(),
});

/** Why a model call failed. `retryable` tells whether a retry may help. */
export const modelErrorClasses = [
  'rate_limited',
  'overloaded',
  'timeout',
  'network',
  'bad_stream',
  'invalid_request',
  'auth',
  'content_filter',
  'context_length',
  'capability',
  'not_configured',
  'unknown',
] as const;
export type ModelErrorClass = (typeof modelErrorClasses)[number];

const modelError = errorObject.extend({
  class: z.enum(modelErrorClasses),
  retryable: z.boolean(),
  retryAfterMs: count.optional(),
});
/** What a run and its descendants used. */
const spent = z.looseObject({ tokens: z.number(), costUsd: z.number(), toolCalls: z.number(), runs: z.number() });
/** Bytes of an artifact that are kept beside the log. */
const blobRef = z.looseObject({ sha256: text, bytes: count });
/** A piece of one version of an artifact. Its index is contiguous from 0; the first piece describes the version. */
const artifact = {
  artifactId: text,
  /** From 1. Absent in logs of other hosts: then the first piece begins the next version. */
  version: count.optional(),
  index: count,
  complete: z.boolean(),
  nodeId,
  callId: text.optional(),
  agentId: text.optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  /** Instead of the content, which is too large for the log. */
  blob: blobRef.optional(),
  /** Of the whole content, in the last piece. */
  sha256: z.string().optional(),
};

/** Names the event of a source run whose recorded result a branch took again. */
export const reusedFrom = z.looseObject({ runId, seq: count }).optional();

/** Operator rows: requests to the outside, their results, and timers. */
export const operatorPayloads = {
  'cairn.step.requested': z.looseObject({
    ...call,
    /** The step's typeId. */
    step: text,
    safety: stepSafety,
    recoveries,
    /** The child run that the step starts, and the variables that it returns. */
    childRunId: runId.optional(),
    harvest: z.array(z.string()).optional(),
    /** What the child is asked to do: its workflow, and in words. */
    childWorkflowId: text.optional(),
    prompt: text.optional(),
    /** The child goes on when this run ends. */
    detached: z.literal(true).optional(),
    /** The interrupt that the step puts to an agent above, that agent, and how many runs above it is. */
    routes: text.optional(),
    agentId: text.optional(),
    level: ordinal.optional(),
  }),
  'cairn.step.returned': z.looseObject({
    ...call,
    /** An outcome, an error, or the question that suspends the call. */
    outcome: json.optional(),
    error: errorObject.optional(),
    suspended: jsonObject.optional(),
    reusedFrom,
    /** The child run whose end, or failed start, this row records. */
    childRunId: runId.optional(),
    /** For a step inside a tool: its tool call, its index from 0, and its name. */
    of: text.optional(),
    ordinal: count.optional(),
    name: z.string().optional(),
    /** For a call of the context that is no step. */
    ctx: z.literal(['ask', 'signIn']).optional(),
  }),
  'cairn.timer.set': z.looseObject({ timerId: text, purpose: z.enum(timerPurposes), nodeId, fireAt: instant }),
  'cairn.timer.fired': z.looseObject({ timerId: text, purpose: z.enum(timerPurposes), nodeId }),
  'cairn.cancel.requested': z.looseObject({
    reason: z.string().optional(),
    requestedBy: z.string().optional(),
    /** Set by a cascade only. */
    parentRunId: runId.optional(),
  }),
  /** The callback URL of the run. The URL itself may be a secret. */
  'cairn.callback.requested': z.looseObject({ callbackUrl: text }),
  /** Sensitive values that entered the run, sealed, by the reference that stands in their place everywhere else. */
  'cairn.values.sealed': z.looseObject({ values: z.record(z.string(), z.string()) }),
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
    recoveries,
    /** Feedback to the model on its last response, and whether it asks for a repair. */
    note: z.string().optional(),
    repairs: z.boolean().optional(),
    /** The last response stated a confidence that is no number from 0 to 1. */
    confidenceRefused: z.boolean().optional(),
  }),
  /** Either a turn or an error. */
  'cairn.model.returned': z.looseObject({ ...call, turn: turn.optional(), error: modelError.optional(), reusedFrom }),
  /** Discards what this attempt streamed. */
  'cairn.model.abandoned': z.looseObject({ ...call, reason: z.string().optional() }),
  /** A memory entry. `memory.written` announces it to clients without the content. */
  'cairn.memory.kept': z.looseObject({
    memoryRef: text,
    memoryId: text,
    content: z.string(),
    tags: z.array(z.string()),
    expiresAt: instant.optional(),
    /** The turn that wrote it; that turn does not read it yet. */
    turn: z.string(),
  }),
  'cairn.memory.dropped': z.looseObject({ memoryRef: text, memoryId: text, turn: z.string() }),
  /** The budget of a child run, and what the child used when it ended. */
  'cairn.budget.granted': z.looseObject({ nodeId, childRunId: runId, budget: runBudget }),
  'cairn.budget.returned': z.looseObject({ nodeId, childRunId: runId, spent }),
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

/** Client rows. */
export const clientPayloads = {
  'cairn.task.status': z.looseObject({ status: z.enum(taskStatuses) }),
  'cairn.tool.progress': z.looseObject({
    callId: text,
    progress: share,
    message: z.string().optional(),
    step: z.string().optional(),
    stepsCompleted: count.optional(),
    stepsTotal: count.optional(),
    /** The amount is unknown; `progress` repeats the last one. */
    indeterminate: z.boolean().optional(),
    /** A guess at the time that is left. */
    etaMs: count.optional(),
    /** From the second entry into the tool on, which may begin again at 0. */
    attempt: ordinal.optional(),
    agentId: text.optional(),
    toolName: text.optional(),
  }),
  'cairn.artifact.chunk': z.looseObject({
    ...artifact,
    mimeType: z.string().optional(),
    encoding: z.enum(['utf-8', 'base64']).optional(),
    totalSize: count.optional(),
    /** Text, or base64 of bytes, as the first piece says. */
    data: z.string().optional(),
    /** Bytes of this piece. */
    bytes: count.optional(),
  }),
  'cairn.artifact.rows': z.looseObject({
    ...artifact,
    schema: jsonObject.optional(),
    totalRows: count.optional(),
    rows: z.array(jsonObject).optional(),
    /** Rows of this piece. */
    count: count.optional(),
  }),
  'cairn.input.forwarded': z.looseObject({ inputId: text }),
  /** The first own row of a branch. The rows before it are those of the source. */
  'cairn.run.forked': z.looseObject({
    /** The branch itself. Its later payloads name this run, also in forks of the branch. */
    runId,
    sourceRunId: runId,
    fromSeq: count,
    mode: z.enum(forkModes),
    contextId: text.optional(),
    /** The context of the source and the last cursor of it that the tree shares: what was said and made there before. */
    history: z.object({ contextId: text, cursor: count }).optional(),
    forkedBy: z.string().optional(),
    /** The failed run that this one does again from its failed node on. */
    retryOf: runId.optional(),
    /** The tool scopes that the source and the caller of the fork both have. */
    toolScopes: z.array(z.string()).optional(),
    rules: z.array(callRule).optional(),
    /** Limits and budget, if the overlay changes options that set them. */
    limits: runLimits.optional(),
    budget: runBudget.optional(),
    overlay: z
      .looseObject({
        inputs: jsonObject.optional(),
        configurable: jsonObject.optional(),
        tags: z.array(z.string()).optional(),
        metadata: jsonObject.optional(),
        prompts: z.record(z.string(), z.string()).optional(),
        /** The open call whose result follows, and the open interrupt whose answer follows. */
        resultOf: text.optional(),
        answerTo: text.optional(),
      })
      .optional(),
    /** Child runs that were open at the cut, and their forks. */
    children: z.record(z.string(), runId).optional(),
    /** When the tree was cut, if that is after the last shared row of this run. */
    cutAt: count.optional(),
    /** The parent's fork, for a child that was forked with it. A child that was forked alone has none, and is a root. */
    parentRunId: runId.optional(),
  }),
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
