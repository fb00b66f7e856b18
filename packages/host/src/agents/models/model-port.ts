/** A model as the performer of turns sees it: one turn, streamed in parts that are the same whoever serves it. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { FinishReason, ModelMessage, ModelTool, ModelToolCall, ModelUsage } from './turn.ts';

export type ModelPart =
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'text-delta'; readonly text: string }
  /** Whole: fragments are put together by whoever speaks to the provider. */
  | { readonly type: 'tool-call'; readonly call: ModelToolCall }
  /** Exactly one, last. */
  | { readonly type: 'finish'; readonly finish: FinishReason; readonly usage: ModelUsage };

/** What a model may be able to do, by the protocol's names. */
export const modelCapabilities = ['function-calling', 'structured-output'] as const;
export type ModelCapability = (typeof modelCapabilities)[number];

/** US dollars for a million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Default: that of `input`. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** One turn to be had of a model. */
export interface ModelCall {
  readonly system: string;
  /** The conversation, then those of the invocation. */
  readonly messages: readonly ModelMessage[];
  /** What the invocation was begun with, which is one of the messages. */
  readonly task: string;
  readonly tools: readonly ModelTool[];
  readonly responseSchema?: JsonObject | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Turns of the invocation before this one. */
  readonly turnIndex: number;
  /** 1 for the first attempt of this turn. */
  readonly attempt: number;
  /** The key to call with instead of the configured one. */
  readonly credential?: string | undefined;
  /** Ends the turn at whatever point it is, and lets go of the connection. */
  readonly signal: AbortSignal;
}

export interface Model {
  /** The provider's name in the configuration. */
  readonly provider: string;
  readonly model: string;
  readonly capabilities: ReadonlySet<ModelCapability>;
  /** What fits into one request; null when that is not known. */
  readonly contextTokens: number | null;
  /** Null when they are not known. */
  readonly prices: ModelPrices | null;
  /** Its deltas come out of a script: each is a row of its own. Those of others are merged while there is no room for rows. */
  readonly isScripted: boolean;
  /** Longest silence, before its first part and between two; left out: that of all. */
  readonly maxSilenceMs?: number | undefined;
  /** The last piece of text is left for the chunk that closes the block. */
  readonly keepsTail?: boolean | undefined;
  /** All it will say, where that is known: if no secret is in it, no piece is held back for what might follow. */
  readonly wholeText?: string | undefined;
  /** Options beside the usual ones that change the answer, for the key of the cache. */
  readonly providerOptions?: Readonly<Record<string, Json>>;
  /** Parts that came together are given together. Throws a `ModelError`. */
  stream(call: ModelCall): AsyncIterable<readonly ModelPart[]>;
}
