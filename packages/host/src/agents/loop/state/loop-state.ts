/** The loop state of an active agent node: plain JSON, checkpointed with the run. */
import { invariant, type Json } from '@cairn/protocol';
import type { StepSafety } from '../../../engine/ports.ts';
import type { ModelFailure, ModelMessage, Turn } from '../../models/turn.ts';
import type { ToolQuestion, ToolRecord } from '../../tools/tool.ts';
import type { Verdict } from '../verdict.ts';

export interface LoopState {
  /** Invocations started in this attempt of the node. */
  invocations: number;
  /** Model turns requested, over all invocations. */
  turns: number;
  toolCalls: number;
  /** Calls with safety `write`. An attempt that made one is not retried automatically. */
  writes: number;
  tokens: number;
  costUsd: number;
  /** Questions that tools asked. Absent in states of older versions. */
  questions?: number;
  /** The open invocation. */
  invocation: Invocation | null;
  /** A handoff whose invocation has not started. */
  handedOn: { readonly agentId: string; readonly message: string } | null;
}

export interface Invocation {
  readonly id: string;
  readonly agentId: string;
  /** seq of its `agent.invocation.started`; the conversation ends before this row. */
  readonly startedSeq: number;
  readonly provider: string;
  readonly model: string;
  /** Tools that its agent is shown. Absent in states of older versions. */
  readonly toolCount?: number;
  /** The handoff message; null for the node's own task. */
  readonly task: string | null;
  /** Messages since the task. */
  readonly messages: ModelMessage[];
  /** Total length of `messages` as JSON. */
  characters: number;
  /** Turns requested in this invocation. */
  turns: number;
  /** Times the model was told that its result violates the schema. */
  repairs: number;
  /** Times the model was told that its confidence is none. Absent in states of older versions. */
  confidenceRefusals?: number;
  stream: Stream;
  stage: Stage;
}

/** The current stage of an invocation. */
export type Stage =
  /** About to call the model. */
  | { readonly kind: 'ready' }
  /** Waiting for the model. */
  | { readonly kind: 'model'; readonly call: TurnCall }
  /** The model has answered; the loop must act on the turn. */
  | AnsweredStage
  /** Waiting for the tools that the turn calls. */
  | ToolsStage
  /** Holding the turn's decision for human review. */
  | HeldStage
  /** The human has answered; the loop must act on the verdict. */
  | JudgedStage;

export interface AnsweredStage {
  readonly kind: 'turn';
  readonly turn: Turn;
}

export interface ToolsStage {
  readonly kind: 'tools';
  readonly turn: Turn;
  readonly calls: ToolCall[];
}

export interface HeldStage {
  readonly kind: 'held';
  readonly turn: Turn;
  readonly calls: readonly ToolCall[];
  readonly interruptId: string;
  readonly decision: Json;
}

export interface JudgedStage {
  readonly kind: 'judged';
  readonly turn: Turn;
  readonly calls: readonly ToolCall[];
  readonly verdict: Verdict;
}

/** The model call of a turn: one call id for all its attempts. */
export interface TurnCall {
  readonly callId: string;
  attempt: number;
  /** Failed attempts, not counting interrupted ones. */
  failures: number;
  progress: TurnProgress;
}

/** State of the newest attempt: open, failed, waiting for the retry timer, or due for a retry. */
export type TurnProgress =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'waiting'; readonly timerId: string }
  | { readonly kind: 'due' };

/** The output of the open attempt that readers have seen. */
export interface Stream {
  deltas: number;
  chunks: number;
  channel: string | null;
}

export interface ToolCall {
  readonly callId: string;
  /** Its place among the calls of the turn. */
  readonly index: number;
  readonly toolId: string;
  readonly calledSeq: number;
  readonly safety: StepSafety;
  attempt: number;
  /** How often it was repeated because its host stopped. Absent: never. */
  retries?: number;
  readonly records: ToolRecord[];
  progress: CallProgress;
}

/** What a tool call waits for: its function, its turn to ask, an answer, or re-entry; or `done`. */
export type CallProgress =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'asking' } & AskedQuestion)
  | ({ readonly kind: 'asked'; readonly interruptId: string; readonly askedAt?: number } & AskedQuestion)
  /** Its last record is the answer. A canceled call is not entered again. */
  | { readonly kind: 'answered'; readonly askedAt?: number; readonly canceled?: true }
  /** `output` is the result that the model sees. */
  | { readonly kind: 'done'; readonly output: Json; readonly isError: boolean };

/** As recorded in the row. */
export type AskedQuestion = {
  /** The ordinal of the ctx call that asks. */
  readonly ordinal: number;
  readonly question: ToolQuestion;
};

export const noStream = (): Stream => ({ deltas: 0, chunks: 0, channel: null });

export const freshLoop = (): LoopState => ({
  invocations: 0,
  turns: 0,
  toolCalls: 0,
  writes: 0,
  tokens: 0,
  costUsd: 0,
  invocation: null,
  handedOn: null,
});

const none: readonly ToolCall[] = [];

/** The tool calls of the current turn, ordered by their index. */
export const callsOf = ({ stage }: Invocation): readonly ToolCall[] => ('calls' in stage ? stage.calls : none);

/** The tool calls that have no result yet. */
export const openCalls = (invocation: Invocation): readonly ToolCall[] =>
  callsOf(invocation).filter(({ progress }) => progress.kind !== 'done');

/** The invocation that an open call belongs to; it stays open as long as the call. */
export function openInvocation({ invocation }: LoopState): Invocation {
  invariant(invocation !== null, 'agent-invocation-open');
  return invocation;
}
