/** The child runs of a run, from the parent's log. */
import type { AgentRef } from '../agents/agent-ref.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import { isJsonObject } from '../json.ts';
import { isRunStatus, isTerminalStatus, type RunStatus } from '../runs/run-status.ts';

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
  /** The agent of the run's first supervisor node. */
  runOrchestrator: AgentRef | null;
}

/** Bounds the list, so that a snapshot does not grow with the run. */
const MAX_CHILD_RUNS = 100;

export function childDispatched(view: Children, payload: PayloadOf<'node.dispatched'>): void {
  const { childRunId, childWorkflowId } = payload;
  childOf(view, childRunId).workflowId = childWorkflowId;
}

/** The row with the child's result also records its end. A quick child may end before its `node.dispatched` is recorded. */
export function childReturned(view: Children, { childRunId, outcome }: PayloadOf<'cairn.step.returned'>): void {
  if (childRunId === undefined || !isJsonObject(outcome)) return;
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

const SUPERVISOR = 'core.orchestrator.supervisor';

/** A supervisor without an agent gets an id derived from its node. */
export function superviseFrom(view: Children, nodeId: string, started: PayloadOf<'node.started'>): void {
  if (started.typeId !== SUPERVISOR) return;
  view.runOrchestrator ??= started.agent ?? { agentId: `host:orchestrator:${nodeId}` };
}
