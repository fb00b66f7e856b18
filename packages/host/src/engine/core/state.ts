/** The engine's state of a run: the public view plus graph bookkeeping. Plain JSON, so that it can be checkpointed. */
import type {
  Cause,
  Draft,
  DrainPolicy,
  ErrorObject,
  Json,
  JsonObject,
  OrchestratorDecision,
  RunId,
  RunStatus,
  RunView,
} from '@cairn/protocol';
import type { Account } from '../family/account.ts';
import type { MemoryScope } from '../family/memory-scope.ts';
import type { ForkState } from '../fork/fork-state.ts';
import type { AgentPin, PromptPin, StepSafety } from '../ports.ts';

/** The outcome of an edge, kept until its target consumes it. */
export type EdgeOutcome = 'taken' | 'not-taken' | 'failed';

/** Why a step, a node or a run failed. The code is from a closed list. */
export type RunError = ErrorObject;

/** A node that has started and has not ended. */
export interface ActiveNode {
  /** seq of the `node.started` row of the current attempt. */
  startedSeq: number;
  startedAt: number;
  attempt: number;
  visit: number;
  inputs: JsonObject;
  /** Attempts of the visit's call so far; the count continues across retries of the node. */
  callAttempts: number;
  /** The visit's call, or null before the first request. */
  callId: string | null;
  /** Attempts of this visit that a pause aborted; they do not count as failures. */
  abandoned: number;
  /** Ids of the timers that end with the attempt. */
  timers: string[];
}

/** How a step ended. */
export type StepResult = { readonly outcome: Json } | { readonly error: RunError };

/** A requested effect without a recorded result. */
export interface OpenCall {
  readonly callId: string;
  readonly nodeId: string;
  /** The id of its performer. */
  readonly step: string;
  readonly safety: StepSafety;
  attempt: number;
  /** seq and time of the latest row that requested it. */
  requestedSeq: number;
  requestedAt: number;
  /** Number of consecutive holders lost while the call was in progress. */
  recoveries: number;
  /** The interrupt that asks a human about the call's outcome. */
  asked?: string;
  /** The interrupt that the call puts to an agent above. No node waits for such a call. */
  readonly routes?: string;
}

/** A question that agents of runs above may answer before people are asked. */
export interface Route {
  readonly nodeId: string;
  /** The place in `coordinators` of the next one to ask. */
  level: number;
  /** The open call that asks one; null while none does. */
  callId: string | null;
  /** What the last one gave back, and the row that says it. */
  verdict: { readonly seq: number; readonly agentId: string; readonly outcome: Json } | null;
}

export interface Timer {
  readonly timerId: string;
  readonly purpose: 'delay' | 'retry' | 'node-timeout' | 'run-timeout' | 'interrupt-expiry' | 'cancel-deadline';
  readonly nodeId?: string;
  /** The interrupt that expires, for an expiry timer. */
  readonly interruptId?: string;
  readonly fireAt: number;
  /** seq of the row that set it. */
  readonly setSeq: number;
}

/** The outcome of an interrupt, as passed to its node. */
export interface Answer {
  readonly interruptId: string;
  /** The interrupt's kind. */
  readonly kind: string;
  readonly value: Json;
  /** No answer arrived in time; or the question was rejected, which an approval says in its value. */
  readonly timedOut: boolean;
  readonly isRejected?: true;
}

/** A queued node and the event that queued it. */
export interface Queued {
  readonly nodeId: string;
  readonly cause: number;
  /** The back edge that re-enters the node. */
  readonly edge?: string;
}

/** A fact about an active node, or a fired timer, that has not been acted on. `decide` handles them in order. */
export type Pending =
  | { readonly kind: 'step-returned'; readonly nodeId: string; readonly seq: number; readonly outcome: Json }
  | { readonly kind: 'node-error'; readonly nodeId: string; readonly seq: number; readonly error: RunError }
  | { readonly kind: 'answered'; readonly nodeId: string; readonly seq: number; readonly answer: Answer }
  | { readonly kind: 'timer'; readonly seq: number; readonly timer: Timer }
  | { readonly kind: 'abandoned'; readonly nodeId: string; readonly seq: number }
  | { readonly kind: 'cut-short'; readonly nodeId: string; readonly seq: number; readonly call: OpenCall }
  | {
      readonly kind: 'recovered';
      readonly nodeId: string;
      readonly seq: number;
      readonly callId: string;
      readonly verdict: JsonObject;
    };

/** A requested pause and when it took effect. After that nothing is decided until the run is resumed. */
export interface Pause {
  /** seq of the latest request, or of a `run.paused` without a request. */
  readonly seq: number;
  readonly drainPolicy: DrainPolicy;
  readonly reason: string | null;
  readonly pausedAt: number | null;
}

/** A decision of the run's supervisor and the seq of its row. */
export interface SupervisorDecision {
  readonly seq: number;
  readonly decision: OrchestratorDecision;
}

export interface Orchestration {
  readonly agentId: string;
  readonly turns: number;
  /** Decisions to ask the user. Absent in states of older versions. */
  readonly questions?: number;
  /** The decision that no node has taken up yet. */
  readonly pending: SupervisorDecision | null;
  /**
   * Decisions being carried out, by node. A node takes the pending decision when it starts, so that none is carried out
   * twice.
   */
  readonly carried: Readonly<Record<string, SupervisorDecision>>;
}

/** The outcome of a child run, as passed to the node that started it. */
export type ChildEnd = {
  readonly status: RunStatus;
  readonly variables: JsonObject;
  readonly error?: RunError;
};

/** A child run started by a node. */
export interface Child {
  readonly runId: RunId;
  readonly nodeId: string;
  /** Variables of the child that the node reads once the child has ended. */
  readonly harvest: readonly string[];
  /** It goes on when this run ends. */
  readonly isDetached?: boolean;
  /** Its start is recorded. */
  isStarted?: true;
}

/** Limits of a run, from its `run.started` event. */
export interface RunLimits {
  readonly maxNodeExecutions: number;
  readonly timeoutMs: number | null;
}

/** Sealed sensitive values, by the reference that stands for them. */
export type SealedValues = Readonly<Record<string, string>>;

/** An event of another host that caused a run here. */
export interface RemoteEvent {
  readonly hostId: string;
  readonly eventId: Cause;
}

/** The request to cancel a run. */
export interface Cancellation {
  readonly seq: number;
  readonly reason: string | null;
  readonly by: string | null;
  readonly parentRunId: RunId | null;
  /** The run has waited long enough for its children. */
  isOverdue?: true;
}

export interface RunState {
  readonly runId: RunId;
  /**
   * The run that decisions name in payloads: the one where the history started, or the last branch. A replay decides
   * again what that run decided, so its payloads are equal. A run that performs effects has its own id here.
   */
  payloadRunId: RunId;
  /** The public view that every API shows. */
  readonly view: RunView;
  /** seq of the next row. */
  nextSeq: number;
  /** Time of the last event, and the only clock that `decide` reads. */
  now: number;
  limits: RunLimits;
  /** Sealed sensitive values, by the reference that stands for them. Absent if there are none. */
  sealed?: SealedValues;
  /** Bytes of the variables, outputs and channels. A value in two of these places counts twice. */
  bytes: number;
  /** Bytes of the run's events in the log. */
  logBytes: number;
  /** Set for a branch and the runs that it starts: where it left its source, and how it makes its calls. */
  fork?: ForkState;
  /** Budget and usage of the run and its descendants. */
  account: Account;
  /** The pinned agents of this run, by id. */
  agents: Readonly<Record<string, AgentPin>>;
  /** The pinned prompt templates, by reference. Runs from before they were pinned have none. */
  prompts?: Readonly<Record<string, PromptPin>>;
  /** The parent run whose end also ends this run; null for a root and for a detached run. */
  attachedTo: RunId | null;
  /** The event of another host that caused the run, until the first agent event repeats it. */
  remoteCause?: RemoteEvent;
  /** Number of ancestor runs. */
  depth: number;
  /** The agents of the runs above, nearest first. Absent in a root, and in runs from before agents answered questions. */
  coordinators?: readonly (string | null)[];
  /** The open questions that are with one of them, by interrupt. Absent if none was. */
  routes?: Record<string, Route>;
  /** How often an agent above was asked. */
  routedTurns?: number;
  /** The memory scope that the run's agents share. */
  memoryScope: MemoryScope;
  /** Child runs requested by nodes of this run whose end is not recorded yet. */
  children: Record<RunId, Child>;
  /** Children whose node has ended. No node waits for them, so they are to be cancelled. */
  orphans: RunId[];
  /** Number of children requested so far; it numbers the next child. */
  childCount: number;
  /** The run's supervisor, its number of decisions, and the decisions still to be carried out. */
  orchestration: Orchestration | null;
  /** Set if a node ended the run: the reason, and the seq of its row. */
  ending: { readonly seq: number; readonly reason: string | null } | null;
  /** The driver's state of each active driven node. */
  inner: Record<string, object>;
  active: Record<string, ActiveNode>;
  activeCount: number;
  visits: Record<string, number>;
  /** Outcomes of forward edges that their target has not consumed yet. */
  edges: Record<string, EdgeOutcome>;
  /** Counts of those outcomes per target: taken, not taken and failed for each group of its edges. */
  arrivals: Record<string, number[]>;
  /** Edges whose next outcome is late, because their target started without it. */
  late: Record<string, number>;
  /** Exit edges of a running loop: untaken so far, or used in this activation of the loop. */
  exits: Record<string, 'untaken' | 'used'>;
  /** Number of active or queued nodes per loop. At 0 the loop is idle and its untaken exits are final. */
  live: Record<string, number>;
  /** Number of times each back edge was followed. */
  loopbacks: Record<string, number>;
  /** Re-entries per loop head since it was last entered from outside. */
  iterations: Record<string, number>;
  /** Nodes whose trigger rules are met, in the order they became ready. */
  ready: Queued[];
  /** Nodes whose trigger rules can no longer be met. */
  unreachable: Queued[];
  /** Nodes in `ready` or `unreachable`. */
  queued: Record<string, true>;
  outputs: Record<string, JsonObject>;
  calls: Map<string, OpenCall>;
  /** Number of calls that wait for an attempt's result. Calls under human review do not count. */
  awaitedCalls: number;
  timers: Record<string, Timer>;
  pending: Pending[];
  executions: number;
  interruptCount: number;
  cancel: Cancellation | null;
  pause: Pause | null;
  failure: { seq: number; nodeId: string | null; error: RunError } | null;
  ended: boolean;
}

/** A row before it is stamped, made by `row(...)`; `stamp` adds seq, time and task face. */
export type { Draft };

/** An effect to perform once the rows that request it are durable. */
export interface Effect {
  readonly kind: 'step';
  readonly callId: string;
}

export interface Decision {
  readonly drafts: readonly Draft[];
  readonly effects: readonly Effect[];
  /** What its expressions cost, if it evaluated any. */
  readonly cost?: number;
}
