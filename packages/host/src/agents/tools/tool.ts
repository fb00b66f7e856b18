/** What a tool is: how the host holds it, what its function gets, what a suspended call remembers, and what comes of a call. */
import type { ErrorCode, Json, JsonObject, RunId } from '@cairn/protocol';
import type { Emission, StepSafety } from '../../engine/ports.ts';

/** A tool as the host holds it, whoever wrote it. */
export interface Tool {
  /** `<scope>:<tool>`: what allowlists, policies and the wire call it. */
  readonly id: string;
  readonly title?: string | undefined;
  /** For the model and for people who choose tools. */
  readonly description: string;
  /** JSON Schema of its arguments, an object. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  /** The most that any call of it may do; `safetyOf` says it of one call. */
  readonly safety: StepSafety;
  /** For one entry into its function; the time a person takes to answer does not count. */
  readonly timeoutMs: number;
  /** Scopes, each `tool:<name>`, that the starter of the run must hold. */
  readonly needs: readonly string[];
  /** Names of the secrets it may ask for. */
  readonly secrets: readonly string[];
  /** Its results are other people's words: they are marked as such before a model reads them. */
  readonly untrusted: boolean;
  readonly egress: 'none' | 'safe-fetch' | 'host-owned';
  /** Pure and cheap: the loop asks before it calls. */
  check(input: Json): CheckedInput;
  safetyOf(input: Json): StepSafety;
  /** `input` is what `check` gave. */
  run(input: unknown, context: HostToolContext): Promise<unknown>;
  /** What of a result breaks its own schema; empty when it fits. */
  outputProblems(result: Json): readonly string[];
}

export type CheckedInput =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** What the function of a tool gets beside its arguments. */
export interface ToolContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly agentId: string;
  /** The same for every attempt and every re-entry of one call. */
  readonly callId: string;
  /** Send it to the outside with whatever must not happen twice. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the run is cancelled, the time is up, the call waits for a person, or the host stops. */
  readonly signal: AbortSignal;
  /** How far it is, 0 to 1; never goes back. As often as you like: a few a second are written down. */
  progress(share: number, message?: string): void;
  /**
   * Asks a person. Without a recorded answer the call ends here, and nothing waits: on the answer the function is entered
   * again from its beginning, and this gives the answer.
   */
  ask(question: AskQuestion): Promise<Json>;
  /** Asks a person to sign in somewhere; gives what the sign-in brought, never a credential itself. Ends the call as `ask` does. */
  signIn(request: SignInRequest): Promise<Json>;
  /** Does something once: its result is recorded, and given again when the function is entered again. */
  step<Result extends Json>(name: string, work: () => Result | Promise<Result>): Promise<Result>;
  /** A secret that the tool declared, by the name it has in the configuration. Use it in this call and keep it nowhere. */
  secret(name: string): string;
}

/** What the host's own tools get: also whose call it is, and a way to write rows. */
export interface HostToolContext extends ToolContext {
  readonly tenant: string;
  readonly contextId: string;
  /** seq of the row that asked for this attempt. */
  readonly requestedSeq: number;
  /** Writes rows of the node; resolves once they are durable. */
  record(rows: readonly Emission[]): Promise<void>;
}

export interface AskQuestion {
  /** What is asked. */
  readonly prompt: string;
  /** Tells this question from others of the call when it is asked again; default: the prompt. */
  readonly name?: string | undefined;
  /** JSON Schema that the answer must fit. */
  readonly schema?: JsonObject | undefined;
  /** Unanswered for so long, the call throws `interrupt_timeout` here. */
  readonly timeoutMs?: number | undefined;
}

export interface SignInRequest {
  readonly prompt: string;
  readonly name?: string | undefined;
  readonly authType: 'oauth2' | 'api-key' | 'password' | 'biometric' | 'custom';
  /** Where one signs in, e.g. `github`. */
  readonly provider?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly authUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What a suspended call asks; plain JSON, recorded with the suspension. */
export type ToolQuestion =
  | {
      readonly kind: 'ask';
      readonly name: string;
      readonly prompt: string;
      readonly schema?: JsonObject;
      readonly timeoutMs?: number;
    }
  | {
      readonly kind: 'signIn';
      readonly name: string;
      readonly prompt: string;
      readonly authType: SignInRequest['authType'];
      readonly provider?: string;
      readonly scopes?: readonly string[];
      readonly authUrl?: string;
      readonly timeoutMs?: number;
    };

/** Something that went wrong inside a call, as it is recorded. */
export type ToolError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
};

/** What a call knows of its earlier entries: the result of its ctx call of this ordinal (from 0). */
export type ToolRecord = {
  readonly ordinal: number;
  readonly kind: 'ask' | 'signIn' | 'step';
  readonly name: string;
} & ({ readonly outcome: Json } | { readonly error: ToolError });

/** What the performer `cairn.tool` is given. */
export type ToolCallInput = {
  readonly toolId: string;
  readonly input: Json;
  readonly agentId: string;
  readonly records: readonly ToolRecord[];
  /** Who started the run; null when nobody is known. */
  readonly principal: string | null;
};

/** What the performer `cairn.tool` gives. It throws only what is a defect of the host. */
export type ToolOutcome =
  | { readonly kind: 'result'; readonly value: Json }
  | { readonly kind: 'suspended'; readonly ordinal: number; readonly question: ToolQuestion }
  | { readonly kind: 'failed'; readonly error: ToolError };
