/** The runs that a run has started, as its own log tells of them. */
import type { AgentRef } from '../agents/agent-ref.ts';
import type { PayloadOf } from '../events/catalogue.ts';
import { isJsonObject } from '../json.ts';
import { isRunStatus, isTerminalStatus, type RunStatus } from '../runs/run-status.ts';

export interface ChildRun {
  readonly runId: string;
  workflowId: string;
  /** `running` until its end is told here. */
  status: RunStatus;
}

/** The part of a run's view that holds them. */
export interface Children {
  /** All that have not ended, and of the others the newest. */
  childRuns: ChildRun[];
  /** Who supervises the run: the agent of its first supervisor node, for good. */
  runOrchestrator: AgentRef | null;
}

/** As many are kept, however many there were: a snapshot does not grow with the age of its run. */
const MAX_CHILD_RUNS = 100;

export function childDispatched(view: Children, payload: PayloadOf<'node.dispatched'>): void {
  const { childRunId, childWorkflowId } = payload;
  childOf(view, childRunId).workflowId = childWorkflowId;
}

/** The end of a child is told by the row that also says what it gave; a quick one ends before it is told that it began. */
export function childReturned(view: Children, { childRunId, outcome }: PayloadOf<'cairn.step.returned'>): void {
  if (childRunId === undefined || !isJsonObject(outcome)) return;
  if (isRunStatus(outcome.status)) childOf(view, childRunId).status = outcome.status;
}

/** The newest are the likeliest to be asked for. */
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

/** A supervisor that names nobody goes by the name of its node. */
export function superviseFrom(view: Children, nodeId: string, started: PayloadOf<'node.started'>): void {
  if (started.typeId !== SUPERVISOR) return;
  view.runOrchestrator ??= started.agent ?? { agentId: `host:orchestrator:${nodeId}` };
}
