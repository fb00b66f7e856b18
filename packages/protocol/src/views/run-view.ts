/** What is known of a run at one point of its history: the shape that `foldRun` keeps. */
import type { TaskStatus } from '../events/cairn.ts';
import type { ErrorObject, Owner } from '../fields.ts';
import type { RunId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { RunStatus } from '../runs/run-status.ts';
import type { Agents } from './agents.ts';
import type { Channels } from './channels.ts';
import type { Children } from './children.ts';
import { noWaits } from './status.ts';
import { noUsage, type UsageView } from './usage.ts';
import type { Variables } from './variables.ts';

/** Plain JSON: it survives a round trip through text and goes on identically. Instants are in ms. */
export interface RunView extends Agents, Children {
  readonly runId: RunId;
  workflowId: string;
  definitionHash: string | null;
  workflowVersion: string | null;
  owner: Owner | null;
  status: RunStatus;
  /** The node whose question has waited longest, while the run waits. */
  currentNodeId: string | null;
  startedAt: number | null;
  endedAt: number | null;
  variables: Variables;
  channels: Channels;
  error: ErrorObject | null;
  tags: readonly string[];
  metadata: JsonObject | null;
  configurable: JsonObject | null;
  /** Scopes of tools that the starter held; null when none are known. */
  toolScopes: readonly string[] | null;
  contextId: string | null;
  inputs: JsonObject | null;
  outputs: JsonObject | null;
  usage: UsageView;
  parentRunId: RunId | null;
  parentNodeId: string | null;
  /** The status the task view showed last, and the event that changed it. */
  taskStatus: TaskStatus | null;
  taskStatusSeq: number;
  /** -1 before the first event. */
  lastSeq: number;
  lastAt: number;
}

/** A run of which nothing is known yet. */
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
  childRuns: [],
  runOrchestrator: null,
  parentRunId: null,
  parentNodeId: null,
  taskStatus: null,
  taskStatusSeq: -1,
  lastSeq: -1,
  lastAt: 0,
});

/** Show another status in the task view, once: the same status twice in a row is one status. */
export function setTaskStatus(view: RunView, status: TaskStatus, seq: number): void {
  if (view.taskStatus === status) return;
  view.taskStatus = status;
  view.taskStatusSeq = seq;
}
