/** Snapshots of runs: from a state in memory, or from the store. */
import { isCairnError, type RunId, type RunSnapshot, runSnapshot } from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { importedSnapshot } from '../creation/imported-run.ts';
import { type RunLoader, runNotFound } from './run-loader.ts';

/** A snapshot and the seq of its last event. */
export interface SnapshotAt {
  readonly seq: number;
  readonly snapshot: RunSnapshot;
  /** About what it takes of memory. */
  readonly bytes: number;
}

/** What a snapshot counts for besides its values. */
const FRAME_BYTES = 262_144;

/** What a snapshot counts for whose values were not counted when it was folded: half of what a state may hold by default. */
export const UNCOUNTED_BYTES = 8_388_608;

/** Throws `not_found` for another tenant's run. */
function snapshotOf({ view, runId, bytes }: RunState, tenant: string): SnapshotAt {
  if (view.owner?.tenant !== tenant) throw runNotFound(runId);
  return { seq: view.lastSeq, snapshot: runSnapshot(view), bytes: bytes + FRAME_BYTES };
}

/** Holds the state of a run that this process steps. */
interface StateHolder {
  read<T>(look: (state: RunState) => T): Promise<T>;
}

interface SnapshotPorts {
  readonly store: Pick<Store, 'log' | 'checkpoints'>;
  readonly loader: RunLoader;
}

interface AskedRun {
  readonly tenant: string;
  readonly runId: RunId;
}

/** The state in this process if it steps the run, else the stored one. */
export async function currentSnapshot(
  holder: StateHolder | undefined,
  ports: SnapshotPorts,
  asked: AskedRun,
): Promise<SnapshotAt> {
  if (holder !== undefined) {
    try {
      return await holder.read((state) => snapshotOf(state, asked.tenant));
    } catch (error) {
      // The mailbox was dropped meanwhile or never opened: read from the log instead.
      if (!isCairnError(error)) throw error;
    }
  }
  return storedSnapshot(ports, asked);
}

async function storedSnapshot({ store, loader }: SnapshotPorts, { tenant, runId }: AskedRun): Promise<SnapshotAt> {
  const head = await store.log.head(runId);
  if (head === null || head.record.tenant !== tenant) throw runNotFound(runId);
  if (head.record.importedAt !== null) {
    return { seq: head.seq, snapshot: await importedSnapshot(store, head.record), bytes: UNCOUNTED_BYTES };
  }
  return snapshotOf((await loader.load(runId, tenant)).state, tenant);
}
