/**
 * Runs that wait in memory for a timer that is due soon. They keep their lease, so that waking costs neither a commit nor
 * a load. What they may hold is bounded in total and per tenant; a run that finds no room rests in the queue instead.
 */

/** A longer wait is worth a commit to the queue, which frees the memory. */
export const SHORT_WAIT_MS = 1_000;

/** Bytes of state as JSON. A state in memory takes about three times as much heap. */
export interface WaitingRoom {
  readonly bytes: number;
  readonly bytesPerTenant: number;
}

const ROOM: WaitingRoom = { bytes: 64_000_000, bytesPerTenant: 16_000_000 };

/** The mailbox, the lease and the alarm of a run, whatever its state. */
const RUN_BYTES = 4_000;

export class ShortWaits {
  readonly #room: WaitingRoom;
  #bytes = 0;
  readonly #byTenant = new Map<string, number>();

  constructor(room: WaitingRoom = ROOM) {
    this.#room = room;
  }

  /** Returns false, and reserves nothing, if there is no room. */
  enter(tenant: string, stateBytes: number): boolean {
    const bytes = RUN_BYTES + stateBytes;
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#room.bytes || ofTenant > this.#room.bytesPerTenant) return false;
    this.#bytes += bytes;
    this.#byTenant.set(tenant, ofTenant);
    return true;
  }

  leave(tenant: string, stateBytes: number): void {
    const bytes = RUN_BYTES + stateBytes;
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) - bytes;
    this.#bytes -= bytes;
    if (ofTenant > 0) this.#byTenant.set(tenant, ofTenant);
    else this.#byTenant.delete(tenant);
  }
}
