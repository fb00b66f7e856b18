/** What the loop knows of an agent node while it is active: plain JSON, checkpointed with the run. */
import type { Json } from '@cairn/protocol';
import type { StepSafety } from '../../engine/ports.ts';
import type { ModelFailure, ModelMessage, Turn } from '../models/turn.ts';
import type { ToolQuestion, ToolRecord } from '../tools/tool.ts';
import type { Verdict } from './verdict.ts';

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

/**
 * What an invocation is doing: about to ask the model, waiting for it, to act on its turn, waiting for tools, holding a
 * decision for a human.
 */
export type Stage = 'ready' | 'model' | 'turn' | 'tools' | 'held';

export interface Invocation {
  readonly id: string;
  readonly agentId: string;
  /** seq of its `agent.invocation.started`: the conversation is what its context held before. */
  readonly startedSeq: number;
  readonly provider: string;
  readonly model: string;
  /** What it was handed; null for the task of the node. */
  readonly task: string | null;
  stage: Stage;
  /** What was said since the task. */
  readonly messages: ModelMessage[];
  /** Of all of them, as JSON. */
  characters: number;
  /** Turns of this invocation that were asked for. */
  turns: number;
  /** Times the model was told that its result is not of the right shape. */
  repairs: number;
  request: TurnRequest | null;
  stream: Stream;
  /** What the model answered last. */
  turn: Turn | null;
  /** The tool calls of that turn, by their number in it. */
  readonly calls: ToolCall[];
  held: Held | null;
}

/** The call of the model that is open, or that failed and is tried again. */
export interface TurnRequest {
  readonly callId: string;
  attempt: number;
  /** Attempts that failed, not counting those that were cut short. */
  failures: number;
  failure: ModelFailure | null;
  /** The timer until the next attempt, and whether it has fired. */
  timerId: string | null;
  isDue: boolean;
}

/** What readers have seen of the attempt that is open. */
export interface Stream {
  deltas: number;
  chunks: number;
  channel: string | null;
}

export type CallStage = 'open' | 'asking' | 'asked' | 'answered' | 'done';

export interface ToolCall {
  readonly callId: string;
  /** Its place among the calls of the turn. */
  readonly index: number;
  readonly toolId: string;
  readonly calledSeq: number;
  readonly safety: StepSafety;
  attempt: number;
  stage: CallStage;
  readonly records: ToolRecord[];
  question: { readonly ordinal: number; readonly question: ToolQuestion } | null;
  interruptId: string | null;
  /** What the model is told of it. */
  output: Json;
  isError: boolean;
}

/** A decision that a human has to look at. */
export interface Held {
  readonly interruptId: string;
  readonly decision: Json;
  readonly confidence: number;
  verdict: Verdict | null;
}

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

/** Of all calls of an invocation, those that have no result yet. */
export const openCalls = ({ calls }: Invocation): ToolCall[] => calls.filter(({ stage }) => stage !== 'done');
