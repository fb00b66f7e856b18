/** The engine as the rest of the host sees it: commands in, snapshots out. */
import type {
  ContextId,
  DrainPolicy,
  Json,
  JsonObject,
  NodeTypeDescriptor,
  RunId,
  RunOptions,
  RunSnapshot,
  RunStatus,
  WorkflowDefinition,
} from '@cairn/protocol';
import type { WorkflowRecord } from '../log/ports/definitions.ts';
import type { RequestKey } from '../log/ports/idempotency.ts';

/** A request with an idempotency key: the key of its record, and the response that is recorded with what the request changes. */
export interface IdempotentRequest<Answer> extends RequestKey {
  readonly response: (answer: Answer) => { readonly status: number; readonly body: string };
}

export interface StartRun {
  readonly tenant: string;
  readonly principal?: string | undefined;
  /** Scopes of tools that the starter holds; recorded with the run, and held against each tool it calls. */
  readonly toolScopes?: readonly string[] | undefined;
  readonly workflowId: string;
  /** Left out: the version registered last. */
  readonly version?: string | undefined;
  /** Runs this instead of a registered workflow. It is kept by its content, and is none of the tenant's workflows. */
  readonly definition?: WorkflowDefinition | undefined;
  readonly inputs: JsonObject;
  readonly options: RunOptions;
  /** The trace the request is in; recorded with the run and never read by the engine. */
  readonly trace?: { readonly traceparent: string; readonly tracestate?: string | undefined } | undefined;
  /** Who is told, and given a token, when the run waits; recorded with the run and never read by the engine. */
  readonly callbackUrl?: string | undefined;
  /** One that the tenant's runs are in; `not_found` for any other. Left out: a context of its own. */
  readonly contextId?: ContextId | undefined;
  /** What the run works on, by its client's name. */
  readonly scopeId?: string | undefined;
  /** Refused with `run_already_active` while another run of the tenant has this scope and has not ended. */
  readonly isAloneInScope?: boolean | undefined;
  readonly idempotency?: IdempotentRequest<RunStarted> | undefined;
}

export interface RunStarted {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly status: RunStatus;
}

export interface AnswerInterrupt {
  readonly tenant: string;
  readonly runId: RunId;
  /** The node that waits, as in the path of the request; or the interrupt itself. */
  readonly nodeId?: string | undefined;
  readonly interruptId?: string | undefined;
  readonly value: Json;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<InterruptAnswered> | undefined;
}

export interface InterruptAnswered {
  readonly nodeId: string;
  readonly status: RunStatus;
}

export interface CancelRun {
  readonly tenant: string;
  readonly runId: RunId;
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunCancelled> | undefined;
}

export interface RunCancelled {
  readonly status: RunStatus;
}

export interface PauseRun {
  readonly tenant: string;
  readonly runId: RunId;
  readonly drainPolicy: DrainPolicy;
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunPaused> | undefined;
}

/** The instant is null while nodes under way have still to finish. */
export interface RunPaused {
  readonly pausedAt: number | null;
}

export interface ResumeRun {
  readonly tenant: string;
  readonly runId: RunId;
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunResumed> | undefined;
}

export interface RunResumed {
  readonly resumedAt: number;
}

/** Every call names a tenant; another tenant's run, workflow or interrupt is `not_found`. */
export interface Engine {
  /** Resolves once `run.started` (and all that follows at once from it) is durable. */
  start(request: StartRun): Promise<RunStarted>;
  answer(request: AnswerInterrupt): Promise<InterruptAnswered>;
  /** A run that has ended stays as it is; its status is the answer. */
  cancel(request: CancelRun): Promise<RunCancelled>;
  /** Resolves once the request is durable. */
  pause(request: PauseRun): Promise<RunPaused>;
  /** Resolves once `run.resumed` (and all that follows at once from it) is durable. */
  resume(request: ResumeRun): Promise<RunResumed>;
  snapshot(tenant: string, runId: RunId): Promise<RunSnapshot>;
  /** The snapshot with the seq of the last event in it. */
  snapshotAt(tenant: string, runId: RunId): Promise<{ readonly seq: number; readonly snapshot: RunSnapshot }>;
  /** Checks and stores a definition. The same version again is fine if it is the same; otherwise a `conflict`. */
  register(tenant: string, definition: WorkflowDefinition): Promise<WorkflowRecord>;
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowDefinition>;
  /** The node types that definitions may use, by id. */
  nodeTypes(): readonly NodeTypeDescriptor[];
  /** Take up runs that a crash or another node left behind, and from then on whatever falls due. */
  open(): Promise<void>;
  /** Stops taking work, aborts effects that are under way (they count as interrupted), waits for accepted appends. */
  close(): Promise<void>;
}
