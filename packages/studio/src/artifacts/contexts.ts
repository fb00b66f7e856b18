/** The contexts of the latest runs: where artifacts are. */
import { isTerminalStatus, type RunSnapshot } from '@cairn/protocol';
import { isAgentRun } from '../agents/agent-runs.ts';
import { titleOf } from '../runs/run-facts.ts';

export interface ContextRow {
  readonly contextId: string;
  /** Its oldest root run that is known. */
  readonly runId: string;
  readonly workflowId: string;
  /** What its oldest known run is about; null if it says nothing of itself. */
  readonly title: string | null;
  readonly at: string;
  /** Whether something in it is at work. */
  readonly isOpen: boolean;
  /** Whether it is a conversation with an agent. */
  readonly isTalk: boolean;
}

/** In the order of the runs, which are the newest first. */
export function contextsOf(runs: readonly RunSnapshot[]): readonly ContextRow[] {
  const found = new Map<string, ContextRow>();
  for (const run of runs) {
    const { contextId, runId, workflowId, startedAt, status, parentRunId } = run;
    if (contextId === undefined || startedAt === undefined) continue;
    const known = found.get(contextId);
    const isOpen = !isTerminalStatus(status) || known?.isOpen === true;
    if (parentRunId !== undefined) {
      if (known !== undefined) found.set(contextId, { ...known, isOpen });
      continue;
    }
    const isTalk = isAgentRun(workflowId);
    const at = known?.at ?? startedAt;
    found.set(contextId, { contextId, runId, workflowId, title: titleOf(run), at, isOpen, isTalk });
  }
  return [...found.values()];
}
