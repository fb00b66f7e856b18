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
  if (!isTerminalStatus(child.status)) put(view.subtasks, childRunId, nodeId ?? '');
}

/** The node waits for none of its children any more. */
export function leaveChildren({ subtasks }: Children, nodeId: string): void {
  for (const childRunId in subtasks) if (subtasks[childRunId] === nodeId) delete subtasks[childRunId];
}

/** The row with the child's result also records its end. A quick child may end before its `node.dispatched` is recorded. */
export function childReturned(view: Children, { childRunId, outcome }: PayloadOf<'cairn.step.returned'>): void {
  if (childRunId === undefined || !isJsonObject(outcome)) return;
  delete view.subtasks[childRunId];
  if (isRunStatus(outcome.status)) childOf(view, childRunId).status = outcome.status;
}

/** Searches from the end: recent children are the most likely. */
function childOf({ childRuns }: Children, runId: string): ChildRun {
  const known = childRuns.findLast((child) => child.runId === runId);
  if (known !== undefined) return known;
  const child: ChildRun = { runId, workflowId: '', status: 'running' };
  childRuns.push(child);
  if (childRuns.length > MAX_CHILD_RUNS) {
    const oldest = childRuns.findIndex(({ status }) => isTerminalStatus(status));
    if (oldest !== -1) childRuns.splice(oldest, 1);
  }
  return child;
}

export const SUPERVISOR = 'core.orchestrator.supervisor';

/** A supervisor without an agent gets an id derived from its node. */
export function superviseFrom(view: Children, nodeId: string, started: PayloadOf<'node.started'>): void {
  if (started.typeId !== SUPERVISOR) return;
  view.runOrchestrator ??= started.agent ?? { agentId: `host:orchestrator:${nodeId}` };
}
