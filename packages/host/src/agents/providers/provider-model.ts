/** Adapts a provider's model to the model port: converts its stream part by part. */
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Json, JsonObject } from '@cairn/protocol';
import { ModelError } from '../models/model-error.ts';
import type { ModelCall, ModelPart } from '../models/model-port.ts';
import { estimatedTokens, messagesTokens } from '../models/tokens.ts';
import type { FinishReason, ModelToolCall, ModelUsage } from '../models/turn.ts';
import { hostileArguments } from '../tools/hostile-arguments.ts';
import { callOptions } from './prompt.ts';
import { providerError } from './provider-errors.ts';

export interface StreamedModel {
  /** The provider's name in the configuration. */
  readonly provider: string;
  readonly load: () => Promise<LanguageModelV4>;
}

/** Throws a `ModelError`, or the abort reason of the call's signal. */
export async function* streamOf(
  { provider, load }: StreamedModel,
  call: ModelCall,
): AsyncGenerator<readonly ModelPart[], void, undefined> {
  let characters = 0;
  try {
    const model = await load();
    const { stream } = await model.doStream(callOptions(call));
    for await (const part of stream) {
      const told = toldOf(part, call, characters);
      if (told !== null && 'text' in told) characters += told.text.length;
      // Other parts become an empty list, which still shows that the model is active.
      yield told === null ? [] : [told];
    }
  } catch (error) {
    call.signal.throwIfAborted();
    throw providerError(error, provider);
  }
}

function toldOf(part: LanguageModelV4StreamPart, call: ModelCall, characters: number): ModelPart | null {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { type: part.type, text: part.delta };
    case 'tool-call':
      return { type: 'tool-call', call: toolCallOf(part) };
    case 'finish':
      return {
        type: 'finish',
        finish: finishOf(part.finishReason.unified),
        usage: usageOf(part.usage, call, characters),
      };
    case 'error':
      throw part.error;
    default:
      return null;
  }
}

type CallPart = Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>;

/** Keeps invalid arguments as received, with the reason. The agent loop reports it to the model. */
function toolCallOf({ toolCallId, toolName, input, providerMetadata }: CallPart): ModelToolCall {
  const meta = isMetadata(providerMetadata) ? { meta: providerMetadata } : {};
  const call = { id: toolCallId, name: toolName, ...meta };
  if (input.trim() === '') return { ...call, input: {} };
  const parsed = parsedArguments(input);
  if (parsed === undefined) return { ...call, input, invalid: 'the arguments are not JSON' };
  // Hostile arguments stay text: code that walks the parsed value recursively could overflow the stack.
  const hostile = hostileArguments(parsed);
  if (hostile !== null) return { ...call, input, invalid: hostile };
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return isObject
    ? { ...call, input: parsed }
    : { ...call, input: parsed, invalid: 'the arguments are no JSON object' };
}

/** The SDKs store JSON for a call, but their type does not say so. */
function isMetadata(value: object | undefined): value is JsonObject {
  return value !== undefined;
}

/**
 * Undefined when the text is not JSON. The parser's message is dropped: it quotes the text, which may hold part of a
 * secret.
 */
function parsedArguments(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Unified = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified'];

function finishOf(unified: Unified): FinishReason {
  switch (unified) {
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    case 'interrupted':
      throw new ModelError('bad_stream', { message: 'The stream ended without saying why: the answer is incomplete.' });
    case 'error':
      throw new ModelError('overloaded', { message: 'The provider broke the answer off with an error.' });
    default:
      return unified;
  }
}

/** Estimates missing or invalid counts, so that budgets do not depend on the provider's usage report. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, call: ModelCall, characters: number): ModelUsage {
  const input = counted(inputTokens.total) ?? estimatedTokens(call.system.length) + messagesTokens(call.messages);
  const reasoning = counted(outputTokens.reasoning);
  const cacheRead = counted(inputTokens.cacheRead);
  const cacheWrite = counted(inputTokens.cacheWrite);
  return {
    inputTokens: input,
    outputTokens: counted(outputTokens.total) ?? estimatedTokens(characters),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    ...(cacheRead === undefined ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
  };
}

/** An upper bound for any request. A larger count is invalid; accepting it would exhaust every budget at once. */
const MOST_TOKENS = 1_000_000_000;

const counted = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isInteger(tokens) && tokens >= 0 && tokens <= MOST_TOKENS ? tokens : undefined;
