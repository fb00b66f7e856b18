/** The performer of `cairn.model`: runs one model turn and streams it into the log. */
import { type ErrorCode, isCairnError, type Json, type ModelErrorClass } from '@cairn/protocol';
import { MODEL_PERFORMER } from '../../engine/performer-ids.ts';
import type { CallContext, Clock, Performer, Redactor, Sha256 } from '../../engine/ports.ts';
import { wellFormed } from '../../engine/values/canonical.ts';
import { llmCacheKey, requestKeyOf } from './cache-key.ts';
import { collectTurn, type StreamLimits, streamLimits } from './collect-turn.ts';
import type { Conversations } from './conversation-reader.ts';
import type { ModelCredentials } from './credentials.ts';
import { DeltaWriter } from './delta-writer.ts';
import { failureOf, ModelError } from './model-error.ts';
import type { Model, ModelCall, ModelCapability, ModelPrices } from './model-port.ts';
import type { WantedModel } from './model-registry.ts';
import { estimatedTokens, messagesTokens } from './tokens.ts';
import type { ModelMessage, ModelOutcome, ModelRequest, ModelUsage, Turn } from './turn.ts';

/** Finds models; see `model-registry.ts`. */
export interface ModelFinder {
  /** Throws a `ModelError` or a `CairnError` when no model fits the request. */
  find(wanted: WantedModel): Model;
}

export interface ModelPerformerPorts {
  readonly models: ModelFinder;
  readonly conversations: Conversations;
  readonly credentials: ModelCredentials;
  readonly clock: Clock;
  readonly sha256: Sha256;
  /** Default: `streamLimits`. */
  readonly limits?: StreamLimits;
}

export function createModelPerformer(ports: ModelPerformerPorts): Performer {
  return {
    typeId: MODEL_PERFORMER,
    // The cache key in the log covers the references, not the values.
    keepsSealed: true,
    async run(input, context) {
      return await perform(input as ModelRequest, context, ports);
    },
  };
}

async function perform(request: ModelRequest, context: CallContext, ports: ModelPerformerPorts): Promise<ModelOutcome> {
  try {
    return { turn: await turnOf(request, context, ports) };
  } catch (error) {
    if (isCairnError(error)) {
      const { code, message, retryable } = error;
      return { error: { class: refusals[code] ?? 'unknown', code, message, retryable } };
    }
    const { redactor } = context;
    return { error: failureOf(error, redactor === null ? undefined : (text) => redactor.text(text)) };
  }
}

/** Maps the host's own error codes to model error classes. */
const refusals: Readonly<Partial<Record<ErrorCode, ModelErrorClass>>> = {
  model_not_configured: 'not_configured',
  credential_forbidden: 'auth',
  unsupported_mock_provider: 'invalid_request',
};

async function turnOf(request: ModelRequest, context: CallContext, ports: ModelPerformerPorts): Promise<Turn> {
  const { limits = streamLimits, clock } = ports;
  const { redactor } = context;
  const model = ports.models.find(request);
  refuseIncapable(model, request, context);
  const call = await callOf(model, request, context, ports);
  const cacheKey = llmCacheKey(semanticRequest(model, call), ports.sha256);
  const kept = await context.reusable(requestKeyOf(cacheKey));
  if (kept !== null) return (kept as { readonly turn: Turn }).turn;
  const writer = new DeltaWriter(context, {
    agentId: request.agentId,
    verbosity: request.verbosity,
    isScripted: model.isScripted,
    keepsTail: model.keepsTail ?? false,
    redact: redactor === null || isKnownClean(model, redactor) ? null : () => redactor.stream(),
  });
  const { toolCalls, finish, usage, tail } = await collectTurn({
    model,
    call: opened(call, context),
    writer,
    clock,
    limits,
  });
  const { said } = writer;
  const costUsd = model.prices === null ? undefined : costOf(usage, model.prices);
  return {
    text: said.text.toWellFormed(),
    reasoning: said.reasoning.toWellFormed(),
    // The next turn sends these calls back to the model, so they must be well-formed Unicode.
    toolCalls: wellFormed(toolCalls),
    finish,
    usage,
    provider: model.provider,
    model: model.model,
    cacheKey,
    ...(costUsd === undefined ? {} : { costUsd }),
    chunks: writer.chunks,
    tail,
    specification: 'v4',
  };
}

const isKnownClean = ({ wholeText }: Model, redactor: Pick<Redactor, 'text'>): boolean =>
  wholeText !== undefined && redactor.text(wholeText) === wholeText;

/** Throws when the model lacks a capability that the request needs. */
function refuseIncapable(model: Model, request: ModelRequest, context: CallContext): void {
  const needed: ModelCapability[] = [];
  if (request.tools.length > 0) needed.push('function-calling');
  if (request.responseSchema !== undefined) needed.push('structured-output');
  const missing = needed.filter((capability) => !model.capabilities.has(capability));
  if (missing.length === 0) return;
  const { provider, model: name } = model;
  const payload = { nodeId: context.nodeId, provider, model: name, missingCapabilities: missing };
  void context.emit([{ type: 'model.capability.insufficient', payload }])?.catch(() => undefined);
  throw new ModelError('capability', {
    message: `${provider}/${name} lacks ${missing.join(' and ')}, which ${request.agentId} needs.`,
  });
}

/** Context window to assume when the model's is unknown. */
const DEFAULT_CONTEXT_TOKENS = 32_768;
/** Tokens reserved for the answer when the request sets no maximum. */
const DEFAULT_ANSWER_TOKENS = 4096;

async function callOf(
  model: Model,
  request: ModelRequest,
  context: CallContext,
  ports: ModelPerformerPorts,
): Promise<ModelCall> {
  const { system, messages, tools, responseSchema, selection } = request;
  const { temperature, maxTokens, credentialRef } = selection;
  const task = taskOf(messages);
  const own =
    estimatedTokens(system.length + JSON.stringify(tools).length) +
    messagesTokens(messages) +
    (maxTokens ?? DEFAULT_ANSWER_TOKENS);
  const before = await ports.conversations.before({
    tenant: context.tenant,
    contextId: context.contextId,
    runId: context.runId,
    cutSeq: request.cutSeq,
    agentId: request.agentId,
    group: request.group,
    task,
    maxTokens: Math.max(0, (model.contextTokens ?? DEFAULT_CONTEXT_TOKENS) - own),
  });
  return {
    system,
    messages: [...before, ...messages],
    task,
    tools,
    responseSchema,
    temperature,
    maxTokens,
    turnIndex: request.turnIndex,
    attempt: context.attempt,
    credential:
      credentialRef === undefined ? undefined : ports.credentials.reveal(credentialRef, context.tenant, model.provider),
    signal: context.signal,
  };
}

/** The call as the model gets it: with the sensitive values that its texts refer to. */
const opened = (call: ModelCall, context: CallContext): ModelCall => ({
  ...call,
  ...context.open({ system: call.system, messages: call.messages, task: call.task }),
});

function taskOf(messages: readonly ModelMessage[]): string {
  const first = messages[0];
  return first?.role === 'user' ? first.text : '';
}

/** The fields that change the answer. Excludes the caller, the credential and the delivery. */
function semanticRequest({ provider, model, providerOptions }: Model, call: ModelCall) {
  const { system, messages, tools, temperature, maxTokens, responseSchema } = call;
  const whole: readonly Json[] = [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages];
  return {
    provider,
    model,
    request: {
      messages: whole,
      ...(tools.length === 0
        ? {}
        : { tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(responseSchema === undefined ? {} : { responseFormat: { type: 'json', schema: responseSchema } }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    },
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}

const MILLION = 1_000_000;

/** Cached tokens are included in the input tokens, but have their own price. */
export function costOf(
  usage: ModelUsage,
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrices,
): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const dollars = fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output;
  return dollars / MILLION;
}
