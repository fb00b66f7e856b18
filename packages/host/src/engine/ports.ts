/** How the engine reaches the world: a store, a clock, fresh ids, and the functions of `defineStep`. Nothing else. */
import type { Json, JsonObject, RunId } from '@cairn/protocol';

export interface Clock {
  /** Milliseconds since the epoch; may jump in either direction. */
  now(): number;
  /**
   * Call `wake` once, when the time from now to `at` has passed; gives the way to call it off. A clock that is set
   * meanwhile neither hurries nor holds it: who is woken looks at `now` again.
   */
  wakeAt(at: number, wake: () => void): () => void;
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

/** Things worth telling an operator; never part of a run's history. */
export type Report = (notice: {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}) => void;

/** Knows the secrets of the host, in the usual encodings, and takes them out of what comes from outside. */
export interface Redactor {
  /** The same text when it holds no secret. */
  text(text: string): string;
  /** With every text in it redacted, keys too; the same value when it holds no secret. */
  value<Value>(value: Value): Value;
  /** The first secret in a value: its name, and the keys that lead to it. */
  secretIn(value: unknown): { readonly name: string; readonly path: readonly string[] } | null;
}

/** sha256 of a text's UTF-8 bytes. */
export type Sha256 = (text: string, encoding: 'hex' | 'base64url') => string;
