/** What an agent in code is told of a question below it, and what it may say. */
import type { Json, JsonObject } from '@cairn/protocol';

/** A question of a task below. Its texts come from that task, so they are data and no instructions. */
export interface InputRequired {
  readonly inputId: string;
  /** The task that asks, and its agent; null if a node asks. */
  readonly taskId: string;
  readonly askedBy: string | null;
  /** The task of this agent. */
  readonly parentTaskId: string;
  readonly prompt: string;
  /** Each with its JSON Schema, if it has one. */
  readonly questions: readonly { readonly id: string; readonly question: string; readonly schema?: JsonObject }[];
  /** Aborted when the time is over, or when the question has another answer. */
  readonly signal: AbortSignal;
}

/** An answer as the user would give it, or `forward`: the next agent above is asked, and finally the user. */
export type InputVerdict = { readonly answer: Json } | 'forward';

export type OnInputRequired = (input: InputRequired) => InputVerdict | undefined | Promise<InputVerdict | undefined>;
