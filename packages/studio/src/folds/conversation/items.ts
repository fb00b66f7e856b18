/** The items of a run's conversation, in the order in which they began. Items are never changed in place. */
import type { InterruptKind, Json, JsonObject, PayloadOf } from '@cairn/protocol';

interface Item {
  /** The row that began it; its anchor on every tab. */
  readonly seq: number;
  /** The last row that changed it. */
  readonly lastSeq: number;
  readonly at: number;
  readonly nodeId: string | undefined;
  /** Null for the run itself. */
  readonly agentId: string | null;
}

/** What the run was asked to do. */
export interface StartItem extends Item {
  readonly kind: 'start';
  readonly workflowId: string;
  readonly inputs: JsonObject;
}

/** A text that a model writes. */
export interface TextItem extends Item {
  readonly kind: 'text';
  readonly text: string;
  readonly isDone: boolean;
  /** How often the model began anew. */
  readonly attempts: number;
}

export interface ThoughtItem extends Item {
  readonly kind: 'thought';
  readonly text: string;
  readonly isDone: boolean;
  readonly thoughtType: string;
  readonly confidence: number | undefined;
}

export type ToolStatus = 'running' | 'ok' | 'failed' | 'stopped';

/** A call of a tool or of a step. */
export interface ToolItem extends Item {
  readonly kind: 'tool';
  readonly callId: string;
  readonly tool: string;
  readonly inputs: Json | undefined;
  readonly status: ToolStatus;
  readonly attempts: number;
  readonly progress: PayloadOf<'cairn.tool.progress'> | null;
  readonly result: Json | undefined;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly endAt: number | null;
  /** The line of the manifest or of the policy that allowed it. */
  readonly rule: string | undefined;
  /** The result was taken from the source of a fork. */
  readonly isReused: boolean;
  readonly remote: { readonly runId: string; readonly hostId: string } | null;
}

export interface QuestionItem extends Item {
  readonly kind: 'question';
  readonly interruptId: string;
  readonly of: InterruptKind;
  readonly data: JsonObject;
  readonly resumeSchema: JsonObject | undefined;
  readonly status: 'open' | 'answered' | 'closed';
  readonly answer: Json | undefined;
  readonly answeredBy: string | undefined;
  /** An agent above is asked before people are. */
  readonly isRouted: boolean;
}

export interface ArtifactItem extends Item {
  readonly kind: 'artifact';
  readonly artifactId: string;
  readonly name: string;
  readonly family: 'file' | 'dataset' | 'data';
  readonly version: number;
  readonly mimeType: string | undefined;
  /** Bytes of a file, rows of a dataset. */
  readonly size: number;
  readonly isComplete: boolean;
}

export type ChildStatus = 'running' | 'completed' | 'failed' | 'cancelled';

export interface ChildItem extends Item {
  readonly kind: 'child';
  readonly childRunId: string;
  readonly workflowId: string;
  readonly prompt: string | undefined;
  readonly status: ChildStatus;
}

/** A decision, a verdict or a handoff. */
export interface DecisionItem extends Item {
  readonly kind: 'decision';
  readonly title: string;
  readonly decision: Json | undefined;
  readonly confidence: number | undefined;
  readonly reason: string | undefined;
}

/** A node without an agent. */
export interface StepItem extends Item {
  readonly kind: 'step';
  readonly typeId: string;
  readonly inputs: JsonObject | undefined;
  readonly outputs: JsonObject | undefined;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'skipped' | 'cancelled';
  readonly endAt: number | null;
}

/** Something the reader should know: a failure, a pause, a fork, the end. */
export interface NoticeItem extends Item {
  readonly kind: 'notice';
  readonly tone: 'info' | 'warn' | 'bad' | 'good';
  /** Of an error. */
  readonly code?: string;
  readonly title: string;
  readonly text: string;
  /** What the run returned. */
  readonly result?: JsonObject;
}

export type ConversationItem =
  | StartItem
  | TextItem
  | ThoughtItem
  | ToolItem
  | QuestionItem
  | ArtifactItem
  | ChildItem
  | DecisionItem
  | StepItem
  | NoticeItem;
