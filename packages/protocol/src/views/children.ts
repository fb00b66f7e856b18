/** The child runs of a run, from the parent's log. */
import type { AgentRef } from '../agents/agent-ref.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import type { EventOf } from '../events/event.ts';
import { isJsonObject } from '../json.ts';
import { isRunStatus, isTerminalStatus, type RunStatus } from '../runs/run-status.ts';
import { put } from './dictionary.ts';

export interface ChildRun {
  readonly runId: string;
  workflowId: string;
  /** `running` until the parent's log records its end. */
  status: RunStatus;
}

/** The part of a run's view that holds them. */
export interface Children {
  /** All active children, and the newest ended ones. */
  childRuns: ChildRun[];
  /** The children that have started and not ended, each with its node. A node that ends waits for none of them. */
  subtasks: Record<string, string>;
  /** The worker whose child run a dispatch node requests next. */
  nextWorker: string | null;
  /** The agent of the run's first supervisor node. */
  runOrchestrator: AgentRef | null;
}

/** Bounds the list, so that a snapshot does not grow with the run. */
const MAX_CHILD_RUNS = 100;

export function childDispatched(view: Children, { nodeId, payload }: EventOf<'node.dispatched'>): void {
  const { childRunId, childWorkflowId } = payload;
  const child = childOf(view, childRunId);
  child.workflowId = childWorkflowId;
  if (!isTerminalStatus(child.status)) addSubtask(view, childRunId, nodeId ?? '');
}

/** The node waits for none of its children any more. */
export function leaveChildren(view: Children, nodeId: string): void {
  if (!hasSubtasks(view)) return;
  for (const childRunId in view.subtasks) if (view.subtasks[childRunId] === nodeId) removeSubtask(view, childRunId);
}

/** The row with the child's result also records its end. A quick child may end before its `node.dispatched` is recorded. */
export function childReturned(view: Children, { childRunId, outcome }: PayloadOf<'cairn.step.returned'>): void {
  if (childRunId === undefined || !isJsonObject(outcome)) return;
  removeSubtask(view, childRunId);
  if (!isRunStatus(outcome.status)) return;
  childOf(view, childRunId).status = outcome.status;
  indexOf(view.childRuns).hasEnded = true;
}

/** To look at one key of an object, the language lists all of them. So the number of the keys is kept beside it. */
const subtaskCounts = new WeakMap<Children['subtasks'], number>();

function subtaskCount({ subtasks }: Children): number {
  const known = subtaskCounts.get(subtasks);
  if (known !== undefined) return known;
  const counted = Object.keys(subtasks).length;
  subtaskCounts.set(subtasks, counted);
  return counted;
}

/** Whether the run waits for a child run. */
export const hasSubtasks = (view: Children): boolean => subtaskCount(view) > 0;

function addSubtask(view: Children, childRunId: string, nodeId: string): void {
  const before = subtaskCount(view);
  if (!Object.hasOwn(view.subtasks, childRunId)) subtaskCounts.set(view.subtasks, before + 1);
  put(view.subtasks, childRunId, nodeId);
}

function removeSubtask(view: Children, childRunId: string): void {
  if (!Object.hasOwn(view.subtasks, childRunId)) return;
  subtaskCounts.set(view.subtasks, subtaskCount(view) - 1);
  delete view.subtasks[childRunId];
}

/** Where each child stands in a list of children, which only this file changes. */
interface ChildIndex {
  readonly byId: Map<string, ChildRun>;
  /** Whether an ended child may be in the list. Without one, nothing can be taken out of it. */
  hasEnded: boolean;
}

const indexes = new WeakMap<ChildRun[], ChildIndex>();

function indexOf(childRuns: ChildRun[]): ChildIndex {
  const known = indexes.get(childRuns);
  if (known !== undefined) return known;
  const index = { byId: new Map(childRuns.map((child) => [child.runId, child])), hasEnded: true };
  indexes.set(childRuns, index);
  return index;
}

function childOf({ childRuns }: Children, runId: string): ChildRun {
  const index = indexOf(childRuns);
  const known = index.byId.get(runId);
  if (known !== undefined) return known;
  const child: ChildRun = { runId, workflowId: '', status: 'running' };
  childRuns.push(child);
  index.byId.set(runId, child);
  if (childRuns.length > MAX_CHILD_RUNS && index.hasEnded) {
    const oldest = childRuns.findIndex(({ status }) => isTerminalStatus(status));
    if (oldest === -1) index.hasEnded = false;
    else for (const { runId: gone } of childRuns.splice(oldest, 1)) index.byId.delete(gone);
  }
  return child;
}

export const SUPERVISOR = 'core.orchestrator.supervisor';

/** A supervisor without an agent gets an id derived from its node. */
export function superviseFrom(view: Children, nodeId: string, started: PayloadOf<'node.started'>): void {
  if (started.typeId !== SUPERVISOR) return;
  view.runOrchestrator ??= started.agent ?? { agentId: `host:orchestrator:${nodeId}` };
}
