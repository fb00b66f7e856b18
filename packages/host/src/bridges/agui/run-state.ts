/** What the AG-UI view of a task knows while it goes on: what is open, what was shown, and how the task stands. */
import type { Event as AguiEvent, TokenUsage } from '@ag-ui/core';
import type { JsonObject, TaskEvent, TaskEventOf, TaskParents } from '@cairn/protocol';

/** What an AG-UI run shows: a root task and those below it. */
export interface ShownRun {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** The root task. */
  readonly taskId: string;
  /** The shared state that the client sent; records of the agent are added to it. */
  readonly state?: JsonObject | undefined;
  /** What the run itself answers: no question any more. */
  readonly answered?: ReadonlySet<string> | undefined;
  /** Results of these calls are in the client's messages already. */
  readonly knownResults?: ReadonlySet<string> | undefined;
}

/** An open question or sign-in. */
export interface Question {
  readonly asked: TaskEventOf<'input-required'> | TaskEventOf<'auth-required'>;
  /** The user may be asked. A question of a subtask goes to the agent above it first. */
  readonly isForUser: boolean;
}

export interface OpenStep {
  readonly stepName: string;
  readonly taskId: string;
}

export interface Artifact {
  readonly taskId: string;
  readonly content: JsonObject;
}

/** How the run ended: its last event. */
export type RunEnd = Extract<AguiEvent, { type: 'RUN_FINISHED' | 'RUN_ERROR' }>;

export interface RunState {
  readonly run: ShownRun;
  /** Tasks that are not over, by id. */
  readonly statuses: Map<string, TaskEventOf<'task-status'>['status']>;
  /** Open text messages: the task of each. */
  readonly texts: Map<string, string>;
  /** By task: the message whose model turn asked for the tool calls that follow. */
  readonly callers: Map<string, string>;
  /** Open steps by the id of their call. */
  readonly steps: Map<string, OpenStep>;
  /** Tool calls that were shown. */
  readonly calls: Set<string>;
  /** Calls without a result: the task of each. */
  readonly openCalls: Map<string, string>;
  /** Those that the client performs. */
  readonly clientCalls: Set<string>;
  /** What a parent said of a subtask before it began. */
  readonly announced: Map<string, TaskEventOf<'subtask-created'>>;
  /** The parent of each subtask. */
  readonly parents: TaskParents;
  /** Open subagents in the order of their start: the event that started each. */
  readonly subagents: Map<string, Extract<AguiEvent, { type: 'SUBAGENT_STARTED' }>>;
  /** Subagents that are over in this run. */
  readonly ended: Set<string>;
  readonly questions: Map<string, Question>;
  /** Open artifacts. */
  readonly artifacts: Map<string, Artifact>;
  /** Records of the task by name. */
  readonly records: Map<string, JsonObject>;
  readonly usage: Map<string, TokenUsage>;
  end: RunEnd | null;
}

export const newRunState = (run: ShownRun): RunState => ({
  run,
  statuses: new Map(),
  texts: new Map(),
  callers: new Map(),
  steps: new Map(),
  calls: new Set(),
  openCalls: new Map(),
  clientCalls: new Set(),
  announced: new Map(),
  parents: new Map(),
  subagents: new Map(),
  ended: new Set(),
  questions: new Map(),
  artifacts: new Map(),
  records: new Map(),
  usage: new Map(),
  end: null,
});

type Shared = Pick<TaskEvent, 'taskId' | 'timestamp'>;

/** Fields that every event has: when, and which subagent did it. */
export const stamp = ({ run }: RunState, { taskId, timestamp }: Shared) => ({
  timestamp: Date.parse(timestamp),
  ...(taskId !== run.taskId && { subagentRunId: taskId }),
});
