/** The child runs in a snapshot: their current status, and a parent that waits while a child waits. */
import type { RunId, RunSnapshot, RunStatus } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';

/** Child runs read for one snapshot. The rest show the status that their parent's log has. */
const MAX_LOOKED_AT = 200;

type ChildRun = NonNullable<RunSnapshot['childRuns']>[number];

/** A parent's log does not have the current status of its open children, so this reads it now. */
export async function withFamily(snapshot: RunSnapshot, tenant: string, engine: Engine): Promise<RunSnapshot> {
  return seen(snapshot, { left: MAX_LOOKED_AT, look: (runId) => engine.snapshot(tenant, runId) });
}

interface Look {
  left: number;
  readonly look: (runId: RunId) => Promise<RunSnapshot>;
}

export const hasOpenChildren = ({ childRuns = [] }: RunSnapshot): boolean => childRuns.some(isOpen);

const isOpen = ({ status }: ChildRun): boolean => status === 'running';

async function seen(snapshot: RunSnapshot, look: Look): Promise<RunSnapshot> {
  if (!hasOpenChildren(snapshot)) return snapshot;
  const childRuns: ChildRun[] = [];
  for (const child of snapshot.childRuns ?? []) childRuns.push(isOpen(child) ? await now(child, look) : child);
  const waiting = childRuns.find(({ status }) => status.startsWith('waiting-'));
  const status: RunStatus = snapshot.status === 'running' && waiting !== undefined ? waiting.status : snapshot.status;
  return { ...snapshot, status, childRuns };
}

async function now(child: ChildRun, look: Look): Promise<ChildRun> {
  if (look.left === 0) return child;
  look.left -= 1;
  const { status } = await seen(await look.look(child.runId as RunId), look);
  return { ...child, status };
}
