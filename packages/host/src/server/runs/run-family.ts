/** What a snapshot shows of the runs below: where each stands now, and that a run waits while one of them does. */
import type { RunId, RunSnapshot, RunStatus } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';

/** Runs that are looked at for one snapshot; beyond them the rest are shown as their parents know them. */
const MAX_LOOKED_AT = 200;

type ChildRun = NonNullable<RunSnapshot['childRuns']>[number];

/** Of a run with open children its own log does not say where they stand: they are looked at now. */
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
