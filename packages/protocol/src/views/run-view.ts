/** The state of a run at one point of its log, maintained by `foldRun`. */
import type { TaskStatus } from '../events/cairn.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import type { ErrorObject, Owner } from '../fields.ts';
import type { RunId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { RunStatus } from '../runs/run-status.ts';
import type { ThoughtType, Verbosity } from '../task-events/kinds.ts';
import type { Agents } from './agents.ts';
import type { Channels } from './channels.ts';
import type { Children } from './children.ts';
import { noWaits } from './status.ts';
import { noUsage, type UsageView } from './usage.ts';
import type { Variables } from './variables.ts';

/** A thought of the row that was folded last. */
export interface DerivedThought {
  readonly thoughtType: ThoughtType;
  readonly verbosity: Verbosity;
  readonly content: string;
  readonly metadata?: JsonObject;
}

/** Plain JSON: it survives a round trip through text and continues identically. Instants are in ms. */
export interface RunView extends Agents, Children {
  readonly runId: RunId;
  workflowId: string;
  definitionHash: string | null;
  workflowVersion: string | null;
  owner: Owner | null;
  status: RunStatus;
  /** The node that has waited longest, while the run waits. */
  currentNodeId: string | null;
  startedAt: number | null;
  endedAt: number | null;
  variables: Variables;
  /** The names of the sensitive variables. Absent if there are none. */
  sensitive?: readonly string[];
  channels: Channels;
  error: ErrorObject | null;
  tags: readonly string[];
  metadata: JsonObject | null;
  configurable: JsonObject | null;
  /** The tool scopes of the caller that started the run; null if unknown. */
  toolScopes: readonly string[] | null;
  contextId: string | null;
  /** The token of the ids inside payloads; null in runs that recorded none. */
  idToken: string | null;
  /** The version of the rules under which the run decides. Absent: the first, or none. */
  engineVersion?: string;
  /** Of a branch: the time between the cut and the fork, in which it did nothing. */
  gapMs?: number;
  /** The agent that the task is for. Absent if it is for none, or for several. */
  actsAs?: string;
  inputs: JsonObject | null;
  outputs: JsonObject | null;
  /** The artifacts that the run completed, in the order of their first versions. */
  artifactIds: string[];
  usage: UsageView;
  /** Who sees thoughts, as the host had it when the run started. Absent: clients see all of them. */
  thoughtPolicy?: PayloadOf<'run.started'>['thoughtPolicy'];
  /** The loops of its agents write rows for operators at every stage. */
  internalEvents?: true;
  /** What the last row makes an agent think; null for most rows. */
  derived: DerivedThought | null;
  parentRunId: RunId | null;
  parentNodeId: string | null;
  /** The status the task view showed last, and the event that changed it. */
  taskStatus: TaskStatus | null;
  taskStatusSeq: number;
  /** When that was, and how long the task waited before. */
  taskStatusAt: number;
  waitedMs: number;
  /** When a new holder last went on with the work of one that was lost. Absent if none was. */
  restartedAt?: number;
  /** -1 before the first event. */
  lastSeq: number;
  lastAt: number;
}

/** The view before the first event. */
export const newRunView = (runId: RunId): RunView => ({
  runId,
  workflowId: '',
  definitionHash: null,
  workflowVersion: null,
  owner: null,
  status: 'pending',
  currentNodeId: null,
  startedAt: null,
  endedAt: null,
  agent: null,
  variables: {},
  channels: {},
  nodeStates: {},
  activeNodes: 0,
  error: null,
  tags: [],
  metadata: null,
  configurable: null,
  toolScopes: null,
  contextId: null,
  idToken: null,
  inputs: null,
  outputs: null,
  interrupts: {},
  resolvedInterrupts: {},
  waits: noWaits(),
  signIns: 0,
  waitOrder: [],
  blocks: {},
  ended: null,
  agentRefs: {},
  agentUsage: {},
  toolCalls: {},
  toolCallCount: 0,
  thoughts: 0,
  usage: noUsage(),
  derived: null,
  childRuns: [],
  subtasks: {},
  nextWorker: null,
  artifactIds: [],
  runOrchestrator: null,
  parentRunId: null,
  parentNodeId: null,
  taskStatus: null,
  taskStatusSeq: -1,
  taskStatusAt: 0,
  waitedMs: 0,
  lastSeq: -1,
  lastAt: 0,
});

/** Sets the status in the task view. The same status twice in a row is one status. */
export function setTaskStatus(view: RunView, status: TaskStatus, seq: number): void {
  if (view.taskStatus === status) return;
  if (view.taskStatus?.startsWith('waiting') === true) view.waitedMs += view.lastAt - view.taskStatusAt;
  view.taskStatusAt = view.lastAt;
  view.taskStatus = status;
  view.taskStatusSeq = seq;
}
