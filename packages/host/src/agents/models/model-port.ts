/** The model port: streams one turn in parts that are the same for every provider. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { FinishReason, ModelMessage, ModelTool, ModelToolCall, ModelUsage } from './turn.ts';

export type ModelPart =
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'text-delta'; readonly text: string }
  /** Always complete: the provider adapter assembles fragments. */
  | { readonly type: 'tool-call'; readonly call: ModelToolCall }
  /** Exactly one, last. */
  | { readonly type: 'finish'; readonly finish: FinishReason; readonly usage: ModelUsage };

/** Model capabilities, under the protocol's names. */
export const modelCapabilities = ['function-calling', 'structured-output'] as const;
export type ModelCapability = (typeof modelCapabilities)[number];

/** US dollars per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Default: that of `input`. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** The input of one model turn. */
export interface ModelCall {
  readonly system: string;
  /** The conversation, then the messages of the invocation. */
  readonly messages: readonly ModelMessage[];
  /** The task the invocation started with; also one of the messages. */
  readonly task: string;
  readonly tools: readonly ModelTool[];
  readonly responseSchema?: JsonObject | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Turns of the invocation before this one. */
  readonly turnIndex: number;
  /** 1 for the first attempt of this turn. */
  readonly attempt: number;
  /** API key that overrides the configured one. */
  readonly credential?: string | undefined;
  /** Aborts the turn at any point and releases the connection. */
  readonly signal: AbortSignal;
}

export interface Model {
  /** The provider's name in the configuration. */
  readonly provider: string;
  readonly model: string;
  readonly capabilities: ReadonlySet<ModelCapability>;
  /** Size of the context window; null when unknown. */
  readonly contextTokens: number | null;
  /** Null when unknown. */
  readonly prices: ModelPrices | null;
  /**
   * Deltas come from a script, and each becomes its own row. Deltas of other models merge while the log applies
   * backpressure.
   */
  readonly isScripted: boolean;
  /** Idle timeout before the first part and between parts. Default: `idleMs` of the stream limits. */
  readonly maxSilenceMs?: number | undefined;
  /** Leaves the last piece of text for the chunk that closes the block. */
  readonly keepsTail?: boolean | undefined;
  /** The whole output, when known in advance. If it contains no secret, the writer streams it without redaction. */
  readonly wholeText?: string | undefined;
  /** Provider-specific options that change the answer, for the cache key. */
  readonly providerOptions?: Readonly<Record<string, Json>>;
  /** Yields parts in the batches in which they arrive. Throws a `ModelError`. */
  stream(call: ModelCall): AsyncIterable<readonly ModelPart[]>;
}
