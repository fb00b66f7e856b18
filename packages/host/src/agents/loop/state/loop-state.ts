/** What the loop knows of an agent node while it is active: plain JSON, checkpointed with the run. */
import { invariant, type Json } from '@cairn/protocol';
import type { StepSafety } from '../../../engine/ports.ts';
import type { ModelFailure, ModelMessage, Turn } from '../../models/turn.ts';
import type { ToolQuestion, ToolRecord } from '../../tools/tool.ts';
import type { Verdict } from '../verdict.ts';

export interface LoopState {
  /** Invocations begun in this attempt of the node. */
  invocations: number;
  /** Model turns asked for, over all invocations. */
  turns: number;
  toolCalls: number;
  /** Calls that changed something outside: an attempt that made one is not begun again by itself. */
  writes: number;
  tokens: number;
  costUsd: number;
  /** The one that is open. */
  invocation: Invocation | null;
  /** Work that was handed on and is not begun. */
  handedOn: { readonly agentId: string; readonly message: string } | null;
}

export interface Invocation {
  readonly id: string;
  readonly agentId: string;
  /** seq of its `agent.invocation.started`: the conversation is what its context held before. */
  readonly startedSeq: number;
  readonly provider: string;
  readonly model: string;
  /** What it was handed; null for the task of the node. */
  readonly task: string | null;
  /** What was said since the task. */
  readonly messages: ModelMessage[];
  /** Of all of them, as JSON. */
  characters: number;
  /** Turns of this invocation that were asked for. */
  turns: number;
  /** Times the model was told that its result is not of the right shape. */
  repairs: number;
  stream: Stream;
  stage: Stage;
}

/** What an invocation is doing. */
export type Stage =
  /** It is about to ask the model. */
  | { readonly kind: 'ready' }
  /** It waits for the model. */
  | { readonly kind: 'model'; readonly call: TurnCall }
  /** It has to act on the model's turn. */
  | AnsweredStage
  /** It waits for the tools that the turn calls. */
  | ToolsStage
  /** It holds the decision of the turn until a human has looked at it. */
  | HeldStage
  /** It has to act on what the human says of the decision. */
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

/** The call by which a turn is had of the model: one call id for all its attempts. */
export interface TurnCall {
  readonly callId: string;
  attempt: number;
  /** Attempts that failed, not counting those that were cut short. */
  failures: number;
  progress: TurnProgress;
}

/** Where the newest attempt of a turn is: open, failed, or failed and waiting for the time of the next one. */
export type TurnProgress =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'waiting'; readonly timerId: string }
  | { readonly kind: 'due' };

/** What readers have seen of the attempt that is open. */
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
  readonly records: ToolRecord[];
  progress: CallProgress;
}

/** What a tool call waits for: its function, a turn to ask, a person, to be entered again; or its end. */
export type CallProgress =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'asking' } & AskedQuestion)
  | ({ readonly kind: 'asked'; readonly interruptId: string } & AskedQuestion)
  | { readonly kind: 'answered' }
  /** `output` is what the model is told of it. */
  | { readonly kind: 'done'; readonly output: Json; readonly isError: boolean };

/** As the row keeps it. */
export type AskedQuestion = {
  /** The number of the ctx call that asks. */
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

/** The tool calls of the turn that an invocation is at, by their number in it. */
export const callsOf = ({ stage }: Invocation): readonly ToolCall[] => ('calls' in stage ? stage.calls : none);

/** Those of them that have no result yet. */
export const openCalls = (invocation: Invocation): readonly ToolCall[] =>
  callsOf(invocation).filter(({ progress }) => progress.kind !== 'done');

/** The invocation that a call of the node belongs to: it is open for as long as the call is. */
export function openInvocation({ invocation }: LoopState): Invocation {
  invariant(invocation !== null, 'agent-invocation-open');
  return invocation;
}
