/** Types of tools: the tool itself, the context of its function, the records of a suspended call, and the outcome. */
import type { CallBudget, ContextId, ErrorCode, Json, JsonObject, RemoteRun, RunId, Urgency } from '@cairn/protocol';
import type { z } from 'zod';
import type { Emission, StepSafety } from '../../engine/ports.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import type {
  ArtifactDataset,
  ArtifactFile,
  ArtifactOptions,
  ArtifactRef,
  DatasetOptions,
  FileOptions,
} from './artifact-port.ts';
import type { ThoughtOptions } from './call-artifacts.ts';

/** A tool as the host runs it, built-in or custom. */
export interface Tool {
  /** `<scope>:<tool>`: the name in allowlists, in policies and on the wire. */
  readonly id: string;
  readonly title?: string | undefined;
  /** For the model and for people who choose tools. */
  readonly description: string;
  /** JSON Schema of its arguments, an object. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  /** The least safe level of any call; `safetyOf` gives the level of one call. */
  readonly safety: StepSafety;
  /** Limit for one entry into the function. The wait for a person's answer does not count. */
  readonly timeoutMs: number;
  /** Scopes, each `tool:<name>`, that the starter of the run must hold. */
  readonly needs: readonly string[];
  /** Names of the secrets it may ask for. */
  readonly secrets: readonly string[];
  /** The results hold third-party text, which is marked as untrusted before a model reads it. */
  readonly untrusted: boolean;
  readonly egress: 'none' | 'safe-fetch' | 'host-owned';
  /** Pure and cheap: the agent loop checks arguments before the call. */
  check(input: Json): CheckedInput;
  safetyOf(input: Json): StepSafety;
  /** `input` is the value that `check` returned. */
  run(input: unknown, context: HostToolContext): Promise<unknown>;
  /** Violations of the output schema; empty when the result is valid. */
  outputProblems(result: Json): readonly string[];
}

export type CheckedInput =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The context that the function of a tool gets beside its arguments. */
export interface ToolContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly agentId: string;
  /** The same for every attempt and every re-entry of one call. */
  readonly callId: string;
  /** Send it with every external request that must not happen twice. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the run is cancelled, the call times out or waits for a person, or the host stops. */
  readonly signal: AbortSignal;
  /**
   * Reports progress from 0 to 1; it never decreases. Call it as often as you like: a few reports a second are written.
   */
  progress(share: number, message?: string, steps?: ProgressSteps): void;
  /**
   * Asks a person. Without a recorded answer the call ends here and holds no resources. When the answer arrives, the
   * function runs again from its beginning, and this call returns the answer, with the type of a zod `schema`.
   */
  ask<Answer = Json>(question: AskQuestion<Answer>): Promise<NoInfer<Answer>>;
  /**
   * Has the user who started the run sign in to a service, unless a stored credential is enough. Ends the call like
   * `ask`. Throws `auth_denied` when the user refuses.
   */
  signIn(request: SignInRequest): Promise<SignedIn>;
  /** Runs work once and records its result. A later entry returns the recorded result. */
  step<Result extends Json>(name: string, work: () => Result | Promise<Result>): Promise<Result>;
  /**
   * Opens a file for writing, as a new version of the artifact with this name. Its pieces are recorded as they come, and
   * readers follow them. Close it before the function returns, or it never becomes current.
   */
  file(name: string, options?: FileOptions): ArtifactFile;
  /** Writes a JSON record as a new version of an artifact, whole. */
  data(name: string, record: JsonObject, options?: ArtifactOptions): Promise<ArtifactRef>;
  /** Opens a dataset, which takes rows in batches. */
  dataset(name: string, options?: DatasetOptions): ArtifactDataset;
  /** Records a thought, unless the run does not ask for thoughts of this level. */
  think(content: string, options?: ThoughtOptions): Promise<void>;
  /** Returns a declared secret by its configured name. Use it in this call only, and do not store it. */
  secret(name: string): string;
}

/** How far a call is, in steps. All of it is optional and only for people. */
export interface ProgressSteps {
  /** The name of the current step. */
  readonly step?: string | undefined;
  readonly stepsCompleted?: number | undefined;
  readonly stepsTotal?: number | undefined;
  /** The share is not known: the last one is repeated. */
  readonly indeterminate?: boolean | undefined;
  /** A guess at the time that is left. */
  readonly etaMs?: number | undefined;
}

/** The context of built-in tools: adds the caller's identity and a way to write rows. */
export interface HostToolContext extends ToolContext {
  readonly tenant: string;
  readonly contextId: ContextId;
  /** What a run that the call starts on another host may use; undefined for other tools. */
  readonly budget: CallBudget | undefined;
  /** seq of the row that requested this attempt. */
  readonly requestedSeq: number;
  /** The same for all calls of one turn of the agent. */
  readonly turnId: string;
  /** Whether an earlier entry into the function came further than this one is now. */
  readonly isReplayed: boolean;
  /** Asks a person on behalf of another party, which the question names. */
  ask<Answer = Json>(question: HostQuestion<Answer>): Promise<NoInfer<Answer>>;
  /** Writes rows of the node; resolves once they are durable. */
  record(rows: readonly Emission[]): Promise<void>;
}

/** A value to choose. The person sees the label; the answer is the value. */
export type AskOption =
  | string
  | number
  | boolean
  | { readonly value: Json; readonly label: string; readonly description?: string | undefined };

export interface AskQuestion<Answer = Json> {
  /** The question as the person sees it. */
  readonly prompt: string;
  /** Identifies the question within the call when it is asked again. Default: the prompt. */
  readonly name?: string | undefined;
  /**
   * The schema of the answer. The person sees its JSON Schema. A zod schema also parses the answer; an answer that it
   * refuses is asked for again, with the reason.
   */
  readonly schema?: z.ZodType<Answer> | JsonObject | undefined;
  /** What the person chooses from: plain values, or values with a label. Without a `schema` the answer is one of them. */
  readonly options?: readonly AskOption[] | undefined;
  /** Only the user who started the conversation may answer: no other person, no agent, no bearer of a token. */
  readonly requireUser?: boolean | undefined;
  /** How soon an answer is needed, for front ends that sort or notify. */
  readonly urgency?: Urgency | undefined;
  /** After this time without an answer, the call throws `interrupt_timeout` here. */
  readonly timeoutMs?: number | undefined;
}

/** A question, and where it comes from if a peer asks it. That is recorded with the question, and shown. */
export interface HostQuestion<Answer = Json> extends AskQuestion<Answer> {
  readonly remote?: JsonObject | undefined;
  /** The peer waits for a sign-in on its own side, or for an approval. No agent answers either. */
  readonly subkind?: 'auth' | 'approval' | undefined;
}

export interface SignInRequest {
  /** One of the `signIns` of the configuration, e.g. `github`. It decides how the user signs in. */
  readonly provider: string;
  /** What the tool needs to be allowed. A stored credential with these scopes answers without asking. */
  readonly scopes?: readonly string[] | undefined;
  /** Why the user should sign in, as the user reads it. */
  readonly prompt?: string | undefined;
  /** Identifies the sign-in within the call when it is asked for again. Default: the provider. */
  readonly name?: string | undefined;
  /** After this time, the call throws `auth_expired` here. */
  readonly timeoutMs?: number | undefined;
}

/** A user who is signed in to a service. */
export interface SignedIn {
  readonly provider: string;
  /** Names the credential, for the log. It grants no access. */
  readonly credentialRef: string;
  /** What the user granted. It may be less than was asked for. */
  readonly scopes: readonly string[];
  readonly expiresAt?: string;
  /**
   * The access token, API key or password, renewed if it has expired. Use it in this call only; the host keeps it out of
   * everything that the call records. Throws `auth_expired` when the user has to sign in again.
   */
  token(): Promise<string>;
}

/** What a call waits for: a person, or the client that executes the tool. */
export type ToolQuestion =
  | PersonQuestion
  /** `name` is the id of the tool; the arguments are those of the call. */
  | { readonly kind: 'client'; readonly name: string };

/** The question of a suspended call: plain JSON, recorded with the suspension. */
export type PersonQuestion =
  | {
      readonly kind: 'ask';
      readonly name: string;
      readonly prompt: string;
      readonly schema?: JsonObject;
      readonly requireUser?: true;
      readonly urgency?: Urgency;
      readonly timeoutMs?: number;
      readonly remote?: JsonObject;
      readonly subkind?: 'auth' | 'approval';
    }
  | {
      readonly kind: 'signIn';
      readonly name: string;
      readonly prompt: string;
      readonly authType: 'oauth2' | 'api-key' | 'pat' | 'password' | 'biometric' | 'custom';
      readonly provider?: string;
      readonly scopes?: readonly string[];
      /** The address below which the sign-ins of the context begin. */
      readonly authorizeAt?: string;
      readonly encryptionKey?: JsonObject;
      readonly infoUrl?: string;
      /** Only in questions of earlier versions. */
      readonly authUrl?: string;
      readonly timeoutMs?: number;
    };

/** An error inside a call, as recorded. */
export type ToolError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  /** What the person said who rejected a question. */
  readonly reason?: string;
};

/** The recorded result of one ctx call of an earlier entry, by ordinal (from 0). */
export type ToolRecord = {
  readonly ordinal: number;
  readonly kind: 'ask' | 'signIn' | 'step' | 'client';
  readonly name: string;
} & ({ readonly outcome: Json } | { readonly error: ToolError });

/** Input of the performer `cairn.tool`. */
export type ToolCallInput = {
  readonly toolId: string;
  readonly input: Json;
  readonly agentId: string;
  readonly turnId: string;
  readonly records: readonly ToolRecord[];
  /** The principal that started the run; null when it is unknown. */
  readonly principal: string | null;
  /** Which thoughts the run asks for. Default `summary`. */
  readonly reasoning?: ReasoningVerbosity;
  /** Less than the limit of the tool. */
  readonly timeoutMs?: number;
  /** What a run may use that the call starts on another host; absent for other tools. */
  readonly budget?: CallBudget;
};

/** Outcome of the performer `cairn.tool`. It throws only for defects of the host. */
export type ToolOutcome =
  | { readonly kind: 'result'; readonly value: Json; readonly remote?: RemoteRun }
  | { readonly kind: 'suspended'; readonly ordinal: number; readonly question: PersonQuestion }
  | { readonly kind: 'failed'; readonly error: ToolError; readonly remote?: RemoteRun };
