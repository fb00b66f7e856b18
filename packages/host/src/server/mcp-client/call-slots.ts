/** Lets a few calls run at once, and fewer of one tenant. The others wait, in order, until they are given up. */

export interface SlotLimits {
  readonly atOnce: number;
  readonly perTenant: number;
}

interface Waiting {
  readonly tenant: string;
  readonly enter: () => void;
}

export class CallSlots {
  readonly #limits: SlotLimits;
  readonly #waiting = new Set<Waiting>();
  /** Calls that run, by tenant. */
  readonly #running = new Map<string, number>();
  #inUse = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  async use<Result>(tenant: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.#hasRoom(tenant)) this.#take(tenant);
    else await this.#turn(tenant, signal);
    try {
      return await work();
    } finally {
      this.#release(tenant);
    }
  }

  #hasRoom(tenant: string): boolean {
    return this.#inUse < this.#limits.atOnce && (this.#running.get(tenant) ?? 0) < this.#limits.perTenant;
  }

  #take(tenant: string): void {
    this.#inUse += 1;
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1);
  }

  async #turn(tenant: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { tenant, enter: resolve };
    const leave = () => {
      if (this.#waiting.delete(waiting)) reject(signal.reason);
    };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** The slot goes to whoever has waited longest of those whose tenant has room. */
  #release(tenant: string): void {
    this.#inUse -= 1;
    const left = (this.#running.get(tenant) ?? 1) - 1;
    if (left === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, left);
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.tenant)) continue;
      this.#waiting.delete(waiting);
      this.#take(waiting.tenant);
      waiting.enter();
      return;
    }
  }
}
