/** How the engine reaches the world: a store, a clock, fresh ids, and the functions of `defineStep`. Nothing else. */
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
   * Call `wake` once, when the time from now to `at` has passed; gives the way to call it off. A clock that is set
   * meanwhile neither hurries nor holds it: who is woken looks at `now` again.
   */
  wakeAt(at: number, wake: () => void): () => void;
}

/** Spans of time for connections: keepalives, stalls, long polls. A clock that is set does not change them. */
export interface Timers {
  /** Calls `wake` once after so many milliseconds; gives the way to call it off. */
  after(ms: number, wake: () => void): () => void;
}

/** Fresh unique text for ids; order never comes from it. */
export type UniqueId = () => string;

/**
 * What may happen to a step that was asked for and whose result was never recorded.
 * `pure`, `read` and `idempotent` run again with the same call id; a `write` waits for a human.
 */
export type StepSafety = 'pure' | 'read' | 'write' | 'idempotent';

/** What a step's function gets beside its input. */
export interface StepContext {
  readonly runId: RunId;
  readonly nodeId: string;
  /** The same for every attempt of one logical call; send it to the outside as the idempotency key. */
  readonly callId: string;
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the run is cancelled, the node's time is up, or the host stops. */
  readonly signal: AbortSignal;
}

/** A step as the engine holds it: an effect whose recorded result is never computed again. */
export interface Step {
  readonly typeId: string;
  readonly safety: StepSafety;
  run(input: JsonObject, context: StepContext): Promise<Json>;
}

/** A row that a call writes while it is under way. */
export type Emission = { [Type in EventType]: EmissionOf<Type> }[EventType];

export interface EmissionOf<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

/** What the call of a driven node gets beside a step's context. */
export interface CallContext extends StepContext {
  readonly tenant: string;
  readonly contextId: ContextId;
  /** seq of the row that asked for this attempt. */
  readonly requestedSeq: number;
  /**
   * Rows of the node, caused by the request. Nothing to wait for while there is room; else a promise of room. What is
   * emitted once the run no longer waits for this attempt is dropped.
   */
  emit(rows: readonly Emission[]): Promise<void> | undefined;
  /** Resolves once all that was emitted is durable. Rejects when it never will be: the attempt is over, or a row does not fit. */
  recorded(): Promise<void>;
}

/** Performs the calls of driven nodes. What it returns or throws is what is recorded of the call. */
export interface Performer<Input extends JsonObject = JsonObject> {
  /** `OpenCall.step` of the calls it performs. */
  readonly typeId: string;
  run(input: Input, context: CallContext): Promise<Json>;
}

/** An agent as a run began with it: its definition by content, and who it is on the wire. */
export interface AgentPin {
  readonly hash: string;
  readonly ref: AgentRef;
}

/** All that an agent is, wherever it comes from: what its hash is of. */
export interface AgentDefinition {
  readonly packName: string;
  readonly packVersion: string;
  readonly manifest: AgentManifest;
  readonly systemPrompt: string;
  readonly taskSchema?: JsonObject | undefined;
  readonly returnSchema?: JsonObject | undefined;
  /** A script for the scripted model, so that the agent can be tried without another. */
  readonly rehearsal?: JsonObject | undefined;
}

/** Where the agents of a tenant are found. */
export interface AgentSource {
  /** The agents of these names, and whoever they may hand work to. Throws for one that the tenant does not have. */
  pin(tenant: string, agentIds: readonly string[]): Promise<Readonly<Record<string, AgentPin>>>;
  definition(hash: string): Promise<AgentDefinition>;
}

/** A message for the operator; never part of a run's history. */
export interface Notice {
  readonly level: 'info' | 'warn' | 'error';
  /** A stable name to search and alert on. */
  readonly event: OperatorEvent;
  /** For people. Default: the sentence of `operatorEvents`. */
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

export type Report = (notice: Notice) => void;

/** Knows the secrets of the host, in the usual encodings, and takes them out of what comes from outside. */
export interface Redactor {
  /** The same text when it holds no secret. */
  text(text: string): string;
  /** With every text in it redacted, keys too; the same value when it holds no secret. */
  value<Value>(value: Value): Value;
  /** For one text that comes in pieces: gives each on at once, but for an end that may be the beginning of a secret. */
  stream(): { push(piece: string): string; end(): string };
  /** The first secret in a value: its name, and the keys that lead to it. */
  secretIn(value: unknown): { readonly name: string; readonly path: readonly string[] } | null;
}

/** sha256 of a text's UTF-8 bytes. */
export type Sha256 = (text: string, encoding: 'hex' | 'base64url') => string;
