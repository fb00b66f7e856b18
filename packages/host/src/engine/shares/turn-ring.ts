/** Runs that wait for a turn: round-robin over their tenants, then in order of arrival. */

export class Waiter {
  readonly tenant: string;
  readonly turn: Promise<void>;
  hasTurn = false;
  /** A caller waits for it. */
  isCaller = false;
  readonly #come: () => void;

  constructor(tenant: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tenant = tenant;
    this.turn = promise;
    this.#come = resolve;
  }

  give(): void {
    this.hasTurn = true;
    this.#come();
  }
}

export class TurnRing {
  /** The first key is the tenant whose turn is next. A waiter that got its turn elsewhere stays until it is found. */
  readonly #lanes = new Map<string, Waiter[]>();

  add(waiter: Waiter): void {
    const lane = this.#lanes.get(waiter.tenant);
    if (lane === undefined) this.#lanes.set(waiter.tenant, [waiter]);
    else lane.push(waiter);
  }

  /** Whether a waiter of the tenant may be in it. */
  has(tenant: string): boolean {
    return this.#lanes.has(tenant);
  }

  /** Removes and returns the next waiter of a tenant that may go on, or null if there is none. */
  next(mayGoOn?: (tenant: string) => boolean): Waiter | null {
    for (const [tenant, lane] of this.#lanes) {
      if (mayGoOn?.(tenant) === false) continue;
      this.#lanes.delete(tenant);
      const waiter = firstWaiting(lane);
      if (lane.length > 0) this.#lanes.set(tenant, lane);
      if (waiter !== null) return waiter;
    }
    return null;
  }
}

function firstWaiting(lane: Waiter[]): Waiter | null {
  for (let waiter = lane.shift(); waiter !== undefined; waiter = lane.shift()) if (!waiter.hasTurn) return waiter;
  return null;
}
