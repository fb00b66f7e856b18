/** Snapshots of runs: from a state in memory, or from the store. */
import { type RunId, type RunSnapshot, runSnapshot } from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { importedSnapshot } from './imported-run.ts';
import { type RunLoader, runNotFound } from './run-loader.ts';

/** A snapshot and the seq of its last event. */
export interface SnapshotAt {
  readonly seq: number;
  readonly snapshot: RunSnapshot;
}

/** Throws `not_found` for another tenant's run. */
export function snapshotOf({ view, runId }: RunState, tenant: string): SnapshotAt {
  if (view.owner?.tenant !== tenant) throw runNotFound(runId);
  return { seq: view.lastSeq, snapshot: runSnapshot(view) };
}

export async function storedSnapshot(
  store: Pick<Store, 'log' | 'checkpoints'>,
  loader: RunLoader,
  { tenant, runId }: { readonly tenant: string; readonly runId: RunId },
): Promise<SnapshotAt> {
  const head = await store.log.head(runId);
  if (head === null || head.record.tenant !== tenant) throw runNotFound(runId);
  if (head.record.importedAt !== null) {
    return { seq: head.seq, snapshot: await importedSnapshot(store, head.record) };
  }
  return snapshotOf((await loader.load(runId, tenant)).state, tenant);
}
