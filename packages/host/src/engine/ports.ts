/** The engine's only ports to the outside: a store, a clock, unique ids, and the functions of `defineStep`. */
import type {
  AgentManifest,
  AgentRef,
  ContextId,
  EventType,
  Json,
  JsonObject,
  PayloadOf,
  RunId,
} from '@cairn/protocol';
import type { OperatorEvent } from './operator-events.ts';

export interface Clock {
  /** Milliseconds since the epoch; may jump in either direction. */
  now(): number;
  /**
   * Calls `wake` once, when the time from now to `at` has passed; returns a function that cancels it. Setting the clock
   * meanwhile does not change the delay: the callee checks `now` again.
   */
  wakeAt(at: number, wake: () => void): () => void;
}

/** The event loop as the engine sees it: how long it has worked, and when others have had their turn. */
export interface EventLoop {
  /** A monotonic clock with any origin. */
  elapsedMs(): number;
  /** Calls `go` once timers and sockets that are ready have been served. */
  nextTurn(go: () => void): void;
}

/** A decision of a run in which a process died. */
export interface Death {
  readonly runId: RunId;
  /** What was decided: the result of this call, `command`, or nothing in particular. */
  readonly cause: string;
  /** How often in succession. */
  readonly count: number;
}

/** Remembers, across the death of the process, which run it was deciding. */
export interface CrashRecord {
  /** The deaths of earlier processes. A decision that has been made since is not among them. */
  deaths(): readonly Death[];
  /** Notes what is about to be decided, until `composed` or the next turn of the event loop. Called for every decision. */
  deciding(runId: RunId, causes: readonly string[]): void;
  /** The rows of the decision are ready. To write them is the log's work: who kills the process then kills no run. */
  composed(): void;
  /** The decision is durable: the process survived it. */
  decided(runId: RunId, causes: readonly string[]): void;
  /** Clears the crashes that were counted for a run. */
  forget(runId: RunId): void;
  /** Whether the owners that had these runs died in a decision of one of them. Returns the deaths of all of these runs. */
  takenOver?(runs: readonly TakenOver[]): Promise<readonly Death[]>;
}

/** A run whose owner showed no sign of life any more. */
export interface TakenOver {
  readonly runId: RunId;
  readonly former: string;
}

/** Timeouts for connections: keepalives, stalls, long polls. Setting the clock does not change them. */
export interface Timers {
  /** Calls `wake` once after `ms` milliseconds; returns a function that cancels it. */
  after(ms: number, wake: () => void): () => void;
}

/** Generates unique ids. Their order has no meaning. */
export type UniqueId = () => string;

/**
 * How the engine recovers a step call whose result was never recorded.
 * `pure`, `read` and `idempotent` run again with the same call id; a `write` waits for a human.
 */
export type StepSafety = 'pure' | 'read' | 'write' | 'idempotent';

/** The second argument of a step's function. */
export interface StepContext {
  readonly runId: RunId;
  readonly nodeId: string;
  /** The same for every attempt of one logical call; send it to external services as the idempotency key. */
  readonly callId: string;
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the run is cancelled, the node times out, or the host stops. */
  readonly signal: AbortSignal;
}

/** The engine's view of a step: an effect whose recorded result is never computed again. */
export interface Step {
  readonly typeId: string;
  readonly safety: StepSafety;
  run(input: JsonObject, context: StepContext): Promise<Json>;
  /** Like that of a `Performer`. */
  shrink?(outcome: unknown, context: CallContext): Promise<unknown>;
}

/** A row that a call writes while it is in progress. */
export type Emission = { [Type in EventType]: EmissionOf<Type> }[EventType];

export interface EmissionOf<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

/** The context of a driven node's call: extends the context of a step. */
export interface CallContext extends StepContext {
  readonly tenant: string;
  readonly contextId: ContextId;
  /** seq of the row that requested this attempt. */
  readonly requestedSeq: number;
  /**
   * Writes rows of the node, caused by the request. Returns a promise only when the buffer is full; it resolves when
   * there is room. Rows emitted after the run stops waiting for this attempt are dropped.
   */
  emit(rows: readonly Emission[]): Promise<void> | undefined;
  /** Replaces references to sensitive values of the run with the values. Call it where the effect takes place. */
  open<Value>(value: Value): Value;
  /** Redacts the host's secrets and the run's sensitive values. Null disables redaction. */
  readonly redactor: Redactor | null;
  /**
   * In a branch whose rules reuse the call: the recorded outcome of an equal request of the source, by the key of this
   * request. Otherwise null. The result that follows is then recorded as reused.
   */
  reusable(key: string): Promise<Json | null>;
  /** Resolves once all emitted rows are durable. Rejects if the attempt is over or a row is too large. */
  recorded(): Promise<void>;
  /** The signal was aborted because this call was canceled: its result is dropped. */
  readonly isCanceled: boolean;
}

/** W3C trace context, recorded with the run that a request or a call starts. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** The trace context below a call, which its request row identifies. */
export type TraceOf = (call: Pick<CallContext, 'runId' | 'requestedSeq'>) => Promise<TraceContext>;

/** Performs the calls of driven nodes. The engine records its return value or error as the result of the call. */
export interface Performer<Input extends JsonObject = JsonObject> {
  /** The `OpenCall.step` of the calls it performs. */
  readonly typeId: string;
  /** The performer opens sensitive values itself, or passes references on. By default it gets the values. */
  readonly keepsSealed?: boolean;
  run(input: Input, context: CallContext): Promise<Json>;
  /** Makes a result that is large, or not plain JSON, fit in an event. By default it is recorded as it is, or fails. */
  shrink?(outcome: unknown, context: CallContext): Promise<unknown>;
}

/** The agent version that a run starts with: the hash of its definition, and its reference on the wire. */
export interface AgentPin {
  readonly hash: string;
  readonly ref: AgentRef;
}

/** The complete definition of an agent, whatever its source. The agent's hash covers it. */
export interface AgentDefinition {
  readonly packName: string;
  readonly packVersion: string;
  readonly manifest: AgentManifest;
  readonly systemPrompt: string;
  readonly taskSchema?: JsonObject | undefined;
  readonly returnSchema?: JsonObject | undefined;
  /** A script for the scripted model, so that the agent can be tried without a real model. */
  readonly rehearsal?: JsonObject | undefined;
  /** The A2A peer that does the work of the agent. It has no model then. */
  readonly peer?: string | undefined;
}

/** Looks up the agents of a tenant. */
export interface AgentSource {
  /**
   * Pins the named agents and every agent they may hand off to. Throws if the tenant lacks one of them. Also pins those
   * of `mentioned` that the tenant has.
   */
  pin(
    tenant: string,
    agentIds: readonly string[],
    mentioned?: readonly string[],
  ): Promise<Readonly<Record<string, AgentPin>>>;
  definition(hash: string): Promise<AgentDefinition>;
}

/** The agents of a new run. */
export interface RunAgents {
  /** Those that the run may act as. */
  readonly pinned: readonly string[];
  /** Those of them that its nodes name. */
  readonly named: ReadonlySet<string>;
}

/** Metadata that the host adds to a new run: who its agents are in other systems. Null if there is nothing to add. */
export type AgentMetadata = (agents: RunAgents) => Promise<JsonObject | null>;

/** The prompt template that a run starts with: the hash of its definition, and its version as a reference. */
export interface PromptPin {
  readonly hash: string;
  readonly ref: string;
}

/** A slot of a prompt template. */
export interface PromptVariable {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  readonly required: boolean;
  /** Where its value comes from. Default `input`. */
  readonly source?: 'input' | 'variable' | 'context' | undefined;
  readonly defaultValue?: unknown;
  readonly description?: string | undefined;
}

/** A prompt with slots. Its hash covers all of it. */
export interface PromptTemplate {
  readonly templateId: string;
  readonly version: string;
  readonly kind: 'system' | 'user' | 'few-shot' | 'schema-hint';
  readonly text: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly variables?: readonly PromptVariable[] | undefined;
}

/** Looks up the prompt templates of the host. */
export interface PromptSource {
  /** Pins the templates that these references name, by reference. One that the host lacks gets no pin. */
  pin(refs: readonly string[]): Promise<Readonly<Record<string, PromptPin>>>;
  template(hash: string): Promise<PromptTemplate>;
}

/** A message for the operator; never part of a run's history. */
export interface OperatorNotice {
  readonly level: 'info' | 'warn' | 'error';
  /** A stable name to search and alert on. */
  readonly event: OperatorEvent;
  /** A sentence for people. Default: the sentence in `operatorEvents`. */
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

export type Report = (notice: OperatorNotice) => void;

/** Removes the host's secrets, in the usual encodings, from external data. */
export interface Redactor {
  /** Returns the same text when it contains no secret. */
  text(text: string): string;
  /** Redacts every string in the value, including keys. Returns the same value when it contains no secret. */
  value<Value>(value: Value): Value;
  /** Redacts a text in chunks. It passes each chunk on at once, except a suffix that may be the start of a secret. */
  stream(): { push(piece: string): string; end(): string };
  /** The path of keys to the first secret in a value, or null. */
  secretIn(value: unknown): readonly string[] | null;
}

/** A sensitive value of a run, and the reference that stands for it. */
export interface SensitiveValue {
  readonly reference: string;
  readonly value: Json;
}

/** Seals sensitive values with the host's key. */
export interface Vault {
  /** `owner` binds the sealed text: it does not open for another owner. */
  seal(owner: string, text: string): string;
  /** Throws `sensitive_value_unavailable` if this host lacks the key. */
  open(owner: string, sealed: string): string;
  /** Redacts these values besides the host's own secrets, and masks the references. */
  redactorOf(values: readonly SensitiveValue[], references: readonly string[]): Redactor;
}

/** sha256 of a text's UTF-8 bytes. */
export type Sha256 = (text: string, encoding: 'hex' | 'base64url') => string;
