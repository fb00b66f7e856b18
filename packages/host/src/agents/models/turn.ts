/** One turn of a model as the loop asks for it and as the log keeps it: plain JSON that no provider's interface shows through. */
import type { Json, JsonObject, PayloadOf } from '@cairn/protocol';

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

/** A tool as a model is shown it. */
export type ModelTool = {
  /** `<scope>:<tool>`; a script names tools by it. */
  readonly toolId: string;
  /** What the model calls it by: `[a-zA-Z0-9_-]`, unique among the tools of a request. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
};

/** Which model an agent, its node and its run ask for; what is left out is the configuration's to say. */
export type ModelSelection = {
  /** A model of the provider, or `<provider>/<model>`. */
  readonly model?: string;
  readonly provider?: string;
  /** The manifest's class, as AgentRefs name it. */
  readonly modelClass: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** The caller's own credential, by reference; never its value. */
  readonly credentialRef?: string;
};

export type ReasoningVerbosity = 'summary' | 'full' | 'off';

/** With whom an invocation shares what was said: nobody, the run, or a group of the conversation. */
export type AgentGroup = 'isolated' | 'shared' | `shared:${string}`;

/** What the performer `cairn.model` is asked to do: the input of one call. */
export type ModelRequest = {
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
};

type Returned = PayloadOf<'cairn.model.returned'>;

/** What a model answered, whole, as its row keeps it. */
export type Turn = NonNullable<Returned['turn']>;

/**
 * A call of a tool as the model wrote it. `id` is unique within a turn only when the model keeps to that; `name` is what it
 * was shown or made up; `invalid` says why the arguments are none, and `input` is then the text as it came.
 */
export type ModelToolCall = Turn['toolCalls'][number];
export type FinishReason = Turn['finish'];
export type ModelUsage = Turn['usage'];

/** A failed call as its row keeps it. */
export type ModelFailure = NonNullable<Returned['error']>;

/** What the performer returns. A failure is a result as well, so that its class and what the provider asked for are kept. */
export type ModelOutcome = { readonly turn: Turn } | { readonly error: ModelFailure };
