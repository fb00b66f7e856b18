/**
 * Limits concurrent calls, in total and per tenant. Further calls wait in order, until they are aborted. A call that waits
 * for a person gives its slot to one of them.
 */

export interface SlotLimits {
  readonly atOnce: number;
  readonly perTenant: number;
}

/** Maximum number of calls that wait for a person without a slot: each holds a connection. Further ones keep their slots. */
const MAX_RESTING = 256;
const MAX_TENANT_RESTING = 64;

interface Waiting {
  readonly tenant: string;
  readonly enter: () => void;
}

interface Slot {
  state: 'running' | 'resting' | 'returning' | 'over';
}

/** Gives up the slot until the promise settles, then waits for a new one. */
export type Rest = <Result>(until: Promise<Result>) => Promise<Result>;

export class CallSlots {
  readonly #limits: SlotLimits;
  /** Calls that come back from a wait for a person go first. */
  readonly #returning = new Set<Waiting>();
  readonly #waiting = new Set<Waiting>();
  /** By tenant. */
  readonly #running = new Count();
  readonly #resting = new Count();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  async use<Result>(tenant: string, signal: AbortSignal, work: (rest: Rest) => Promise<Result>): Promise<Result> {
    const slot: Slot = { state: 'running' };
    const rest: Rest = async (until) => {
      if (slot.state !== 'running' || !this.#mayRest(tenant)) return until;
      slot.state = 'resting';
      this.#resting.add(tenant);
      this.#release(tenant);
      try {
        return await until;
      } finally {
        // The call may have ended while it rested.
        if (slot.state === 'resting') {
          slot.state = 'returning';
          this.#resting.remove(tenant);
          signal.throwIfAborted();
          if (this.#hasRoom(tenant)) this.#running.add(tenant);
          else await this.#turn(tenant, signal, this.#returning);
          if (slot.state === 'returning') slot.state = 'running';
          else this.#release(tenant);
        }
      }
    };
    signal.throwIfAborted();
    if (this.#hasRoom(tenant)) this.#running.add(tenant);
    else await this.#turn(tenant, signal, this.#waiting);
    try {
      return await work(rest);
    } finally {
      if (slot.state === 'running') this.#release(tenant);
      if (slot.state === 'resting') this.#resting.remove(tenant);
      slot.state = 'over';
    }
  }

  #mayRest(tenant: string): boolean {
    return this.#resting.all < MAX_RESTING && this.#resting.of(tenant) < MAX_TENANT_RESTING;
  }

  #hasRoom(tenant: string): boolean {
    return this.#running.all < this.#limits.atOnce && this.#running.of(tenant) < this.#limits.perTenant;
  }

  async #turn(tenant: string, signal: AbortSignal, queue: Set<Waiting>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { tenant, enter: resolve };
    const leave = () => {
      if (queue.delete(waiting)) reject(signal.reason);
    };
    queue.add(waiting);
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** The slot goes to the call that has waited longest among the tenants with room. */
  #release(tenant: string): void {
    this.#running.remove(tenant);
    for (const queue of [this.#returning, this.#waiting]) {
      for (const waiting of queue) {
        if (!this.#hasRoom(waiting.tenant)) continue;
        queue.delete(waiting);
        this.#running.add(waiting.tenant);
        waiting.enter();
        return;
      }
    }
  }
}

class Count {
  readonly #of = new Map<string, number>();
  all = 0;

  of(tenant: string): number {
    return this.#of.get(tenant) ?? 0;
  }

  add(tenant: string): void {
    this.all += 1;
    this.#of.set(tenant, this.of(tenant) + 1);
  }

  remove(tenant: string): void {
    this.all -= 1;
    const left = this.of(tenant) - 1;
    if (left > 0) this.#of.set(tenant, left);
    else this.#of.delete(tenant);
  }
}
