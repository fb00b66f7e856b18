/** The runs that a run has started, as its own log tells of them. */
import type { AgentRef } from '../agent-ref.ts';
import type { FoldEvent } from '../event.ts';
import type { PayloadOf } from '../events/catalog.ts';
import { isTerminalStatus, type RunStatus, runStatuses } from '../run-status.ts';
import { payloadAs } from './payload.ts';

export interface ChildRun {
  readonly runId: string;
  readonly workflowId: string;
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
  const { childRunId: runId, childWorkflowId: workflowId } = payload;
  if (view.childRuns.some((child) => child.runId === runId)) return;
  view.childRuns.push({ runId, workflowId, status: 'running' });
  if (view.childRuns.length <= MAX_CHILD_RUNS) return;
  const oldest = view.childRuns.findIndex(({ status }) => isTerminalStatus(status));
  if (oldest !== -1) view.childRuns.splice(oldest, 1);
}

/** The end of a child is told by the row that also says what it gave. */
export function childReturned(view: Children, { payload }: FoldEvent): void {
  const { childRunId, outcome } = payloadAs<'cairn.step.returned'>(payload);
  if (childRunId === undefined) return;
  const child = view.childRuns.findLast(({ runId }) => runId === childRunId);
  const status = (outcome as { readonly status?: unknown } | null | undefined)?.status;
  if (child !== undefined && runStatuses.includes(status as RunStatus)) child.status = status as RunStatus;
}

const SUPERVISOR = 'core.orchestrator.supervisor';

/** A supervisor that names nobody goes by the name of its node. */
export function superviseFrom(view: Children, nodeId: string, started: PayloadOf<'node.started'>): void {
  if (started.typeId !== SUPERVISOR) return;
  view.runOrchestrator ??= started.agent ?? { agentId: `host:orchestrator:${nodeId}` };
}
