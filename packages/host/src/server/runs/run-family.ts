/** The relatives in a snapshot: child runs with their current status, and the run that a fork was cut off. */
import type { RunId, RunSnapshot } from '@cairn/protocol';
import type { RunIndex, RunRecord } from '../../log/ports/run-index.ts';

type ChildRun = NonNullable<RunSnapshot['childRuns']>[number];

/**
 * A parent's log does not have the current status of its open children, so this takes it from the run index. The list
 * shows the same index, so both agree.
 */
export async function withFamily(snapshot: RunSnapshot, runIndex: Pick<RunIndex, 'shown'>): Promise<RunSnapshot> {
  const { childRuns = [] } = snapshot;
  const runId = snapshot.runId as RunId;
  const shown = await runIndex.shown([runId, ...childRuns.filter(isOpen).map((child) => child.runId as RunId)]);
  const status = snapshot.status === 'running' ? (shown.get(runId) ?? snapshot.status) : snapshot.status;
  return {
    ...snapshot,
    status,
    childRuns: childRuns.map((child) => ({ ...child, status: shown.get(child.runId as RunId) ?? child.status })),
  };
}

export const hasOpenChildren = ({ childRuns = [] }: RunSnapshot): boolean => childRuns.some(isOpen);

const isOpen = ({ status }: ChildRun): boolean => status === 'running';

/** A fork says where it was cut off, and is in a context of its own, whatever the events say that it shares. */
export const withLineage = <Snapshot extends RunSnapshot>(snapshot: Snapshot, record: RunRecord): Snapshot =>
  record.fork === null ? snapshot : { ...snapshot, contextId: record.contextId, fork: record.fork };
