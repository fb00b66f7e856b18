/** One turn of a model as the loop asks for it and as the log keeps it: plain JSON that no provider's interface shows through. */
import type { ErrorCode, Json, JsonObject } from '@cairn/protocol';

/** What was said before, in the order in which a model gets it. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning?: string;
      readonly toolCalls: readonly ModelToolCall[];
    }
  | {
      readonly role: 'tool';
      /** The id the model gave its call. */
      readonly callId: string;
      /** The name by which the model called it. */
      readonly name: string;
      readonly output: Json;
      readonly isError: boolean;
    };

export interface ModelToolCall {
  /** The model's own id; unique within a turn only when the model keeps to that. */
  readonly id: string;
  /** The name the model was shown, or whatever it made up. */
  readonly name: string;
  readonly input: Json;
  /** Why the arguments are none: not JSON, or no object. The input is then the text as it came. */
  readonly invalid?: string;
  /** What its provider wants back with the call, and nobody else understands. */
  readonly meta?: JsonObject;
}

/** A tool as a model is shown it. */
export interface ModelTool {
  /** `<scope>:<tool>`; a script names tools by it. */
  readonly toolId: string;
  /** What the model calls it by: `[a-zA-Z0-9_-]`, unique among the tools of a request. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
}

/** Which model an agent, its node and its run ask for; what is left out is the configuration's to say. */
export interface ModelSelection {
  /** A model of the provider, or `<provider>/<model>`. */
  readonly model?: string;
  readonly provider?: string;
  /** The manifest's class, as AgentRefs name it. */
  readonly modelClass: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** The caller's own credential, by reference; never its value. */
  readonly credentialRef?: string;
}

export type ReasoningVerbosity = 'summary' | 'full' | 'off';

/** With whom an invocation shares what was said: nobody, the run, or a group of the conversation. */
export type AgentGroup = 'isolated' | 'shared' | `shared:${string}`;

/** What the performer `cairn.model` is asked to do: the input of one call. */
export interface ModelRequest {
  readonly agentId: string;
  readonly selection: ModelSelection;
  readonly system: string;
  /** Of this invocation only; what was said before it is read from the log. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** The answer is to be JSON of this shape. */
  readonly responseSchema?: JsonObject;
  readonly group: AgentGroup;
  /** seq of the `agent.invocation.started` of this invocation: the conversation is what its context held before. */
  readonly cutSeq: number;
  /** `off`: reasoning is not streamed. */
  readonly verbosity: ReasoningVerbosity;
  /** A script for the scripted model, from the pack. */
  readonly rehearsal?: Json;
  /** Turns of this invocation before this one. */
  readonly turnIndex: number;
  /** `configurable.mockProvider`. */
  readonly mock?: { readonly id: string; readonly config?: JsonObject };
}

export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** What a model answered, whole. */
export interface Turn {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finish: FinishReason;
  readonly usage: ModelUsage;
  readonly provider: string;
  readonly model: string;
  /** By the recipe `spec-rfc-0041`, over the request as it was sent. */
  readonly cacheKey: string;
  /** What the usage costs by the configured prices; left out when a price is not known. */
  readonly costUsd?: number;
  /** How many pieces of text were streamed, so that whoever closes the block knows whether one is open. */
  readonly chunks: number;
  /** The end of the text that was not streamed, mostly nothing: the chunk that closes the block carries it. */
  readonly tail: string;
  /** The version of the provider interface behind it. */
  readonly specification: 'v4';
}

/** Why a call of a model failed. Whether trying again may help is said by `retryable`. */
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

/** A failed call as it is recorded. */
export interface ModelFailure {
  readonly class: ModelErrorClass;
  /** A code of the closed list, for the node that fails by it. */
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  /** What the provider asked for. */
  readonly retryAfterMs?: number;
}

/** What the performer returns. A failure is a result as well, so that its class and what the provider asked for are kept. */
export type ModelOutcome = { readonly turn: Turn } | { readonly error: ModelFailure };
