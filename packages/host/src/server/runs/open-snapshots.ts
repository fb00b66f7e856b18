/** The snapshots that are being sent. Requests for the same state of a run share one, so that it is loaded once. */
import type { RunId } from '@cairn/protocol';
import type { SnapshotAt } from '../../engine/loading/snapshots.ts';

export class OpenSnapshots {
  readonly #open = new Map<RunId, { readonly at: SnapshotAt; users: number }>();

  /** The snapshot of a run after this event, if a response has it. */
  find(runId: RunId, seq: number): SnapshotAt | null {
    const at = this.#open.get(runId)?.at;
    return at?.seq === seq ? at : null;
  }

  /** Shares a snapshot until the returned function is called. A newer one takes the place of an older one. */
  use(runId: RunId, at: SnapshotAt): () => void {
    const known = this.#open.get(runId);
    const entry = known === undefined || known.at !== at ? { at, users: 0 } : known;
    entry.users += 1;
    this.#open.set(runId, entry);
    return () => {
      entry.users -= 1;
      if (entry.users === 0 && this.#open.get(runId) === entry) this.#open.delete(runId);
    };
  }
}
