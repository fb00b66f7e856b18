/** What the engine knows of a run: the public view plus the graph's bookkeeping. Plain JSON, so that it can be checkpointed. */
import type { Audience, Json, JsonObject, RunId, RunView } from '@cairn/protocol';
import type { StepSafety } from './ports.ts';

/** How an edge was left by its source, until its target consumes it. */
export type EdgeOutcome = 'taken' | 'not-taken' | 'failed';

export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
  readonly retryable?: boolean;
}

/** A node that has started and not ended: what it is doing. */
export interface ActiveNode {
  /** seq of the `node.started` row of the current attempt. */
  startedSeq: number;
  startedAt: number;
  attempt: number;
  visit: number;
  inputs: JsonObject;
}

/** An effect that was asked for and has no recorded result. */
export interface OpenCall {
  readonly callId: string;
  readonly nodeId: string;
  readonly step: string;
  readonly safety: StepSafety;
  attempt: number;
  readonly input: JsonObject;
  /** seq of the latest `cairn.step.requested`. */
  requestedSeq: number;
}

export interface Timer {
  readonly timerId: string;
  readonly purpose: 'delay' | 'retry' | 'node-timeout' | 'run-timeout' | 'interrupt-expiry';
  readonly nodeId?: string;
  readonly fireAt: number;
  /** seq of the row that set it. */
  readonly setSeq: number;
}

/** Something that happened to an active node and has not been acted on yet; `decide` takes them in order. */
export type Pending =
  | { readonly kind: 'step-returned'; readonly nodeId: string; readonly seq: number; readonly outcome: Json }
  | { readonly kind: 'node-error'; readonly nodeId: string; readonly seq: number; readonly error: RunError }
  | { readonly kind: 'answered'; readonly nodeId: string; readonly seq: number; readonly interruptId: string }
  | { readonly kind: 'timer'; readonly seq: number; readonly timer: Timer }
  | { readonly kind: 'recovered'; readonly nodeId: string; readonly seq: number; readonly verdict: JsonObject };

export interface RunState {
  readonly runId: RunId;
  /** The fold every surface shows. */
  readonly view: RunView;
  /** seq the next row will get. */
  nextSeq: number;
  /** Instant of the last event: the only time `decide` knows. */
  now: number;
  active: Record<string, ActiveNode>;
  visits: Record<string, number>;
  edges: Record<string, EdgeOutcome>;
  /** Nodes whose trigger rules are met, in the order in which that happened, and what made them ready. */
  ready: { nodeId: string; cause: number }[];
  /** Nodes whose trigger rules can no longer be met. */
  unreachable: { nodeId: string; cause: number }[];
  outputs: Record<string, JsonObject>;
  calls: Record<string, OpenCall>;
  timers: Record<string, Timer>;
  pending: Pending[];
  executions: number;
  interruptCount: number;
  cancel: { seq: number; reason: string | null; by: string | null } | null;
  failure: { seq: number; nodeId: string | null; error: RunError } | null;
  ended: boolean;
}

/** A row as `decide` asks for it; the mailbox stamps seq, time and task face. */
export interface Draft {
  readonly type: string;
  readonly nodeId?: string;
  /** seq in this run; a row of the same decision is reached by `state.nextSeq + index`. */
  readonly cause?: number;
  readonly audience: Audience;
  readonly payload: JsonObject;
}

/** An effect to perform once the rows that ask for it are durable. */
export interface Effect {
  readonly kind: 'step';
  readonly callId: string;
}

export interface Decision {
  readonly drafts: readonly Draft[];
  readonly effects: readonly Effect[];
}
