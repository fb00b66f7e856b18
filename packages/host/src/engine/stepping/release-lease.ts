/** Releases a run's lease to the queue, with the time of the run's next wake. */
import type { RunId } from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import type { Report } from '../ports.ts';

export interface ReleasePorts {
  readonly store: Pick<Store, 'queue'>;
  readonly report: Report;
  readonly wakeBy: (at: number) => void;
}

export async function releaseLease(
  { store, report, wakeBy }: ReleasePorts,
  lease: { readonly runId: RunId; readonly fence: number; readonly wakeAt: number | null },
): Promise<void> {
  const { runId, wakeAt } = lease;
  try {
    await store.queue.release(lease);
    if (wakeAt !== null) wakeBy(wakeAt);
  } catch (error) {
    // The lease then expires with this node's session; the only cost is the delay.
    report({ level: 'warn', event: 'lease.release_failed', facts: { runId }, error });
  }
}
