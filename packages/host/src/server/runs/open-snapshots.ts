/** The snapshots that are being loaded or sent. Requests for the same state of a run share one, so that it is built once. */
import type { SnapshotAt } from '../../engine/loading/snapshots.ts';
import { TenantSlots } from '../../tenant-slots.ts';

/** Snapshots of one tenant that are loaded and sent at the same time. Each may be megabytes. */
const AT_ONCE = 4;

/** A state that a request wants: the one after this event of a run, or a later one. */
export interface WantedState {
  /** The same for requests that may share a state. */
  readonly key: string;
  readonly seq: number;
  readonly load: () => Promise<SnapshotAt>;
}

interface Open {
  readonly seq: number;
  readonly at: Promise<SnapshotAt>;
  users: number;
}

export class OpenSnapshots {
  readonly #slots = new TenantSlots(AT_ONCE);
  readonly #open = new Map<string, Open>();

  /** Waits for the turn of the tenant. It is over with the answer, or as soon as the answer says that its client stalls. */
  async inTurn<Answer>(tenant: string, answer: (stalled: () => void) => Promise<Answer>): Promise<Answer> {
    const release = await this.#slots.take(tenant);
    try {
      return await answer(release);
    } finally {
      release();
    }
  }

  /** Loads the state, or takes the one that others have, and has it until the answer is over. */
  async with<Answer>(wanted: WantedState, answer: (at: SnapshotAt) => Promise<Answer>): Promise<Answer> {
    const open = this.#opened(wanted);
    open.users += 1;
    try {
      return await answer(await open.at);
    } finally {
      open.users -= 1;
      if (open.users === 0 && this.#open.get(wanted.key) === open) this.#open.delete(wanted.key);
    }
  }

  /** A newer state takes the place of an older one. */
  #opened({ key, seq, load }: WantedState): Open {
    const known = this.#open.get(key);
    if (known !== undefined && known.seq >= seq) return known;
    const open = { seq, at: load(), users: 0 };
    this.#open.set(key, open);
    return open;
  }
}
