/** What the engine knows of a run: the public view plus the graph's bookkeeping. Plain JSON, so that it can be checkpointed. */
import type {
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
import type { AgentPin, StepSafety } from '../ports.ts';

/** How an edge was left by its source, until its target consumes it. */
export type EdgeOutcome = 'taken' | 'not-taken' | 'failed';

/** Why a step, a node or a run failed; its code is one of the closed list. */
export type RunError = ErrorObject;

/** A node that has started and not ended: what it is doing. */
export interface ActiveNode {
  /** seq of the `node.started` row of the current attempt. */
  startedSeq: number;
  startedAt: number;
  attempt: number;
  visit: number;
  inputs: JsonObject;
  /** Attempts made so far of the visit's call; they count on over the node's retries. */
  callAttempts: number;
  /** The visit's call, once it has made one. */
  callId: string | null;
  /** Attempts of this visit that a pause cut short; they are no failures. */
  abandoned: number;
  /** Ids of the timers that end with the node or its attempt. */
  timers: string[];
}

/** How a step ended. */
export type StepResult = { readonly outcome: Json } | { readonly error: RunError };

/** An effect that was asked for and has no recorded result. */
export interface OpenCall {
  readonly callId: string;
  readonly nodeId: string;
  /** Who performs it. */
  readonly step: string;
  readonly safety: StepSafety;
  attempt: number;
  /** seq and instant of the latest row that asked for it. */
  requestedSeq: number;
  requestedAt: number;
  /** How many holders in a row were lost while it was under way. */
  recoveries: number;
  /** The interrupt by which a human is asked what became of it. */
  asked?: string;
}

export interface Timer {
  readonly timerId: string;
  readonly purpose: 'delay' | 'retry' | 'node-timeout' | 'run-timeout' | 'interrupt-expiry';
  readonly nodeId?: string;
  /** Of an expiry, the interrupt that expires. */
  readonly interruptId?: string;
  readonly fireAt: number;
  /** seq of the row that set it. */
  readonly setSeq: number;
}

/** How an interrupt ended, as its node is told. */
export interface Answer {
  readonly interruptId: string;
  /** The interrupt's kind. */
  readonly kind: string;
  readonly value: Json;
  /** Nobody answered in time. */
  readonly timedOut: boolean;
}

/** A node whose turn has come, and the event that made it so. */
export interface Queued {
  readonly nodeId: string;
  readonly cause: number;
  /** The back edge by which it is entered again. */
  readonly edge?: string;
}

/** Something that happened to an active node and has not been acted on yet; `decide` takes them in order. */
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

/** A pause that was asked for, and when it took effect; from then on nothing is decided until the run is resumed. */
export interface Pause {
  /** seq of the latest request, or of the `run.paused` that nobody asked for. */
  readonly seq: number;
  readonly drainPolicy: DrainPolicy;
  readonly reason: string | null;
  readonly pausedAt: number | null;
}

/** A decision of the run's supervisor, and where it was recorded. */
export interface SupervisorDecision {
  readonly seq: number;
  readonly decision: OrchestratorDecision;
}

export interface Orchestration {
  readonly agentId: string;
  readonly turns: number;
  /** The decision that no node has taken up. */
  readonly pending: SupervisorDecision | null;
  /** The decisions that nodes carry out, by node. A node takes up the pending one when it starts, so that none is carried out twice. */
  readonly carried: Readonly<Record<string, SupervisorDecision>>;
}

/** How a run ended, as the node that started it is told. */
export type ChildEnd = {
  readonly status: RunStatus;
  readonly variables: JsonObject;
  readonly error?: RunError;
};

/** A run that a node has started. */
export interface Child {
  readonly runId: RunId;
  readonly nodeId: string;
  /** Variables of it that the node wants to know once it has ended. */
  readonly harvest: readonly string[];
}

/** What a run may use; from its `run.started`. */
export interface RunLimits {
  readonly maxNodeExecutions: number;
  readonly timeoutMs: number | null;
}

export interface RunState {
  readonly runId: RunId;
  /** The fold every surface shows. */
  readonly view: RunView;
  /** seq the next row will get. */
  nextSeq: number;
  /** Instant of the last event: the only time `decide` knows. */
  now: number;
  limits: RunLimits;
  /** What the run and those below it may use, and have. */
  account: Account;
  /** The agents this run is pinned to, by id. */
  agents: Readonly<Record<string, AgentPin>>;
  /** The run whose end ends this one, too; null for a root and for a detached run. */
  attachedTo: RunId | null;
  /** How many runs are above this one. */
  depth: number;
  /** With whom its agents remember. */
  memoryScope: MemoryScope;
  /** Runs that nodes of this one asked for and whose end is not recorded yet. */
  children: Record<RunId, Child>;
  /** Those of them whose node has ended: nobody waits for them, and they are to end. */
  orphans: RunId[];
  /** How many it has asked for so far; the next one is known by this number. */
  childCount: number;
  /** Who supervises the run, how often they decided, and what of it is still to be carried out. */
  orchestration: Orchestration | null;
  /** A node has ended the run: why, and where that was said. */
  ending: { readonly seq: number; readonly reason: string | null } | null;
  /** Of each driven node that is active, what its driver keeps. */
  inner: Record<string, object>;
  active: Record<string, ActiveNode>;
  activeCount: number;
  visits: Record<string, number>;
  /** Outcomes of forward edges that have arrived at a target which has not started since. */
  edges: Record<string, EdgeOutcome>;
  /** Those outcomes counted per target: for each group of its edges the taken, not taken and failed ones. */
  arrivals: Record<string, number[]>;
  /** Edges whose next outcome comes too late, because their target went ahead without it. */
  late: Record<string, number>;
  /** Edges out of a running loop: left untaken so far, or used in this activation of the loop. */
  exits: Record<string, 'untaken' | 'used'>;
  /** Per loop, how many of its nodes are active or queued; at 0 the loop rests and its untaken exits are final. */
  live: Record<string, number>;
  /** How often each back edge was followed. */
  loopbacks: Record<string, number>;
  /** Per loop head, re-entries since it was last entered from outside. */
  iterations: Record<string, number>;
  /** Nodes whose trigger rules are met, in the order in which that happened. */
  ready: Queued[];
  /** Nodes whose trigger rules can no longer be met. */
  unreachable: Queued[];
  /** The nodes in those two lists. */
  queued: Record<string, true>;
  outputs: Record<string, JsonObject>;
  calls: Record<string, OpenCall>;
  /** How many of those calls wait for an attempt's result: all but those about which a human was asked. */
  awaitedCalls: number;
  timers: Record<string, Timer>;
  pending: Pending[];
  executions: number;
  interruptCount: number;
  cancel: { seq: number; reason: string | null; by: string | null; parentRunId: RunId | null } | null;
  pause: Pause | null;
  failure: { seq: number; nodeId: string | null; error: RunError } | null;
  ended: boolean;
}

/** A row as `decide` asks for it, made by `row(...)`; the mailbox stamps seq, time and task face. */
export type { Draft };

/** An effect to perform once the rows that ask for it are durable. */
export interface Effect {
  readonly kind: 'step';
  readonly callId: string;
}

export interface Decision {
  readonly drafts: readonly Draft[];
  readonly effects: readonly Effect[];
}
