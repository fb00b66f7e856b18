/** The engine's interface to the rest of the host: commands in, snapshots out. */
import type {
  CallBudget,
  CallRule,
  ContextId,
  DrainPolicy,
  EventId,
  ForkMode,
  ForkOverlay,
  JsonObject,
  NodeTypeDescriptor,
  RemoteParent,
  RunId,
  RunOptions,
  RunSnapshot,
  RunStatus,
  WorkflowDefinition,
} from '@cairn/protocol';
import type { WorkflowRecord } from '../log/ports/definitions.ts';
import type { RequestKey } from '../log/ports/idempotency.ts';
import type { AnswerRequest } from './core/answers/answers.ts';
import type { SnapshotAt } from './loading/snapshots.ts';
import type { Step, TraceContext } from './ports.ts';
import type { SharedCounters } from './shares/shared-counters.ts';
import type { TenantShares } from './shares/tenant-shares.ts';
import type { RegisterOptions } from './workflow/workflow-registry.ts';

/** The idempotency key of a request, and the response that the store records together with the request's changes. */
export interface IdempotentRequest<Answer> extends RequestKey {
  readonly response: (answer: Answer) => { readonly status: number; readonly body: string };
}

/** A run of another host, as a peer stated it. The new run records it and is one deeper. */
export interface RemoteCaller {
  readonly parent: RemoteParent;
  readonly eventId: EventId;
  readonly depth: number;
}

export interface StartRun {
  readonly tenant: string;
  readonly principal?: string | undefined;
  /** The starter's tool scopes. The run records them, and every tool call is checked against them. */
  readonly toolScopes?: readonly string[] | undefined;
  readonly workflowId: string;
  /** Default: the version registered last. */
  readonly version?: string | undefined;
  /** Runs this instead of a registered workflow. The store keeps it by content, but does not register it. */
  readonly definition?: WorkflowDefinition | undefined;
  readonly inputs: JsonObject;
  readonly options: RunOptions;
  /** The trace context of the request; recorded with the run and never read by the engine. */
  readonly trace?: TraceContext | undefined;
  /** The run of another host that requests this one, and the event there that causes it. */
  readonly caller?: RemoteCaller | undefined;
  /** What that run lets this one use at most. It cannot give more than the host does. */
  readonly callBudget?: CallBudget | undefined;
  /** The protocol of the request; recorded, and never read by the engine. Default: `rest`. */
  readonly transport?: 'mcp' | 'a2a' | undefined;
  /** Receives a notification with a token when the run waits; recorded with the run and never read by the engine. */
  readonly callbackUrl?: string | undefined;
  /** A context that the tenant's runs already use; `not_found` for any other. Default: a new context. */
  readonly contextId?: ContextId | undefined;
  /** The client named the context itself: if it is new, this run begins it. */
  readonly mayBeginContext?: boolean | undefined;
  /** A run of the same context that this one retries; recorded, and never read by the engine. */
  readonly retryOf?: RunId | undefined;
  /** The client's name for the resource that the run works on. */
  readonly scopeId?: string | undefined;
  /** Refuses the run with `run_already_active` while another run of the tenant is active in this scope. */
  readonly isAloneInScope?: boolean | undefined;
  /** Creates the run paused: nothing starts before it is resumed. The reason is recorded. */
  readonly heldBack?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunStarted> | undefined;
}

export interface RunStarted {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly status: RunStatus;
}

export interface AnswerInterrupt extends AnswerRequest {
  readonly tenant: string;
  readonly runId: RunId;
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

export interface CancelCall {
  readonly tenant: string;
  readonly runId: RunId;
  readonly callId: string;
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunCancelled> | undefined;
}

export interface PauseRun {
  readonly tenant: string;
  readonly runId: RunId;
  readonly drainPolicy: DrainPolicy;
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
  readonly idempotency?: IdempotentRequest<RunPaused> | undefined;
}

/** `pausedAt` is null until the active nodes have finished. */
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

export interface ForkRun {
  readonly tenant: string;
  readonly principal?: string | undefined;
  /** The tool scopes of the caller. A branch has only those that its source has too. */
  readonly toolScopes?: readonly string[] | undefined;
  /** The source. */
  readonly runId: RunId;
  readonly mode: ForkMode;
  /** seq of the first row that is not shared. */
  readonly fromSeq: number;
  /** The branch does its failed source again. */
  readonly isRetry?: boolean;
  /** A branch of a child run: whether the runs above it are cut and forked, too. Else it becomes a root. */
  readonly isWholeTree?: boolean | undefined;
  /** What changes at the cut of a branch. */
  readonly options?: RunOptions | undefined;
  readonly overlay?: ForkOverlay | undefined;
  readonly rules?: readonly CallRule[] | undefined;
  readonly idempotency?: IdempotentRequest<RunForked> | undefined;
}

/** A branch at the failed node. */
export type RetryRun = Omit<ForkRun, 'mode' | 'fromSeq' | 'isRetry'>;

export interface RunForked extends RunStarted {
  readonly sourceRunId: RunId;
  readonly fromSeq: number;
  readonly mode: ForkMode;
}

/** Every call names a tenant; another tenant's run, workflow or interrupt is `not_found`. */
export interface Engine {
  /** Resolves once `run.started` and the rows that follow from it immediately are durable. */
  start(request: StartRun): Promise<RunStarted>;
  /** Creates a run that shares the rows of another before a position. Resolves once it is durable. */
  fork(request: ForkRun): Promise<RunForked>;
  /** Forks a failed run at the node that failed. */
  retry(request: RetryRun): Promise<RunForked>;
  answer(request: AnswerInterrupt): Promise<InterruptAnswered>;
  /** Does not change a run that has ended, and returns its status. */
  cancel(request: CancelRun): Promise<RunCancelled>;
  /**
   * Ends one tool call; its run goes on with the failed result. A call in progress gets two seconds to end by itself.
   * Throws `conflict` for a call that has ended. Resolves once the end is durable.
   */
  cancelCall(request: CancelCall): Promise<RunCancelled>;
  /** Resolves once the request is durable. */
  pause(request: PauseRun): Promise<RunPaused>;
  /** Resolves once `run.resumed` and the rows that follow from it immediately are durable. */
  resume(request: ResumeRun): Promise<RunResumed>;
  snapshot(tenant: string, runId: RunId): Promise<RunSnapshot>;
  /** The snapshot with the seq of its last event. */
  snapshotAt(tenant: string, runId: RunId): Promise<SnapshotAt>;
  /** Checks and stores a definition. Registering a version again succeeds if the content is equal, else `conflict`. */
  register(tenant: string, definition: unknown, options?: RegisterOptions): Promise<WorkflowRecord>;
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowDefinition>;
  /** The node types that definitions may use, by id. */
  nodeTypes(): readonly NodeTypeDescriptor[];
  /** Replaces the steps of the host. A run in memory keeps the compiled definition it has. */
  defineSteps(steps: readonly Step[]): void;
  /** Whether this node has the run of the tenant in memory to step it. Such a run exists, and was not imported. */
  isSteppedHere(tenant: string, runId: RunId): boolean;
  /** What each tenant uses of this host. */
  readonly shares: Pick<TenantShares, 'usage' | 'usageOnAllNodes' | 'tenants' | keyof SharedCounters>;
  /** Recovers the runs that a crash or another host abandoned, then claims runs as they fall due. */
  open(): Promise<void>;
  /** Stops taking work, aborts effects in progress (they count as interrupted), and waits for accepted appends. */
  close(): Promise<void>;
}
