/**
 * The types of a model turn, as the loop requests it and as the log records it. They are plain, provider-neutral JSON.
 */
import type { Json, JsonObject, PayloadOf } from '@cairn/protocol';

/** One message of the history sent to a model. */
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
      /** The tool name that the model used. */
      readonly name: string;
      readonly output: Json;
      readonly isError: boolean;
    };

/** A tool as shown to a model. */
export type ModelTool = {
  /** `<scope>:<tool>`; a script names tools by it. */
  readonly toolId: string;
  /** The name shown to the model: `[a-zA-Z0-9_-]`, unique within a request. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
};

/** The model that the agent, its node and its run request. The configuration supplies omitted fields. */
export type ModelSelection = {
  /** A model of the provider, or `<provider>/<model>`. */
  readonly model?: string;
  readonly provider?: string;
  /** The manifest's model class, named as in an AgentRef. */
  readonly modelClass: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** The caller's own credential, by reference; never its value. */
  readonly credentialRef?: string;
};

export type ReasoningVerbosity = 'summary' | 'full' | 'off';

/**
 * The group that shares an invocation's conversation: none, the run, or a named one. An agent that answers a message to a
 * context gets the `context`: the messages and results of its runs.
 */
export type AgentGroup = 'isolated' | 'context' | 'shared' | `shared:${string}`;

/** The input of one call of the performer `cairn.model`. */
export type ModelRequest = {
  readonly agentId: string;
  readonly selection: ModelSelection;
  readonly system: string;
  /** Messages of this invocation only; the performer reads the earlier conversation from the log. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** JSON Schema that the answer must satisfy. */
  readonly responseSchema?: JsonObject;
  readonly group: AgentGroup;
  /** seq of this invocation's `agent.invocation.started`; the conversation ends before this row. */
  readonly cutSeq: number;
  /** `off`: reasoning is not streamed. */
  readonly verbosity: ReasoningVerbosity;
  /** A script for the scripted model, from the pack. */
  readonly rehearsal?: Json;
  /** Turns of this invocation before this one. */
  readonly turnIndex: number;
  /** `configurable.mockProvider`. */
  readonly mock?: { readonly id: string; readonly config?: JsonObject };
  /** The A2A peer that takes the turn instead of a model. */
  readonly peer?: { readonly name: string; readonly conversation: boolean; readonly skill?: string };
};

type Returned = PayloadOf<'cairn.model.returned'>;

/** The complete answer of a model, as recorded in its row. */
export type Turn = NonNullable<Returned['turn']>;

/**
 * A tool call as the model wrote it. `id` may be empty or repeated within a turn. `name` may be one that the model
 * invented. `invalid` says why the arguments are unusable; `input` then holds them as received.
 */
export type ModelToolCall = Turn['toolCalls'][number];
export type FinishReason = Turn['finish'];
export type ModelUsage = Turn['usage'];

/** A failed call, as recorded in its row. */
export type ModelFailure = NonNullable<Returned['error']>;

/** What the performer returns. A failure is also a result, which keeps its class and the provider's retry delay. */
export type ModelOutcome = { readonly turn: Turn } | { readonly error: ModelFailure };
