/** Lets a few calls of a peer run at once, and fewer of one tenant. The others wait, in order, until they are given up. */

interface Waiting {
  readonly tenant: string;
  readonly begin: () => void;
}

export interface SlotLimits {
  readonly maxCallsAtOnce: number;
  readonly maxCallsPerTenant: number;
}

export class PeerSlots {
  readonly #limits: SlotLimits;
  readonly #waiting = new Set<Waiting>();
  readonly #taken = new Map<string, number>();
  #used = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Resolves to the function that frees the slot. The abort of the signal frees it as well. */
  async take(tenant: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#hasRoom(tenant)) await this.#wait(tenant, signal);
    else this.#count(tenant, 1);
    let isFree = false;
    const free = () => {
      if (isFree) return;
      isFree = true;
      signal.removeEventListener('abort', free);
      this.#count(tenant, -1);
      this.#beginNext();
    };
    signal.addEventListener('abort', free, { once: true });
    return free;
  }

  #hasRoom(tenant: string): boolean {
    const { maxCallsAtOnce, maxCallsPerTenant } = this.#limits;
    return this.#used < maxCallsAtOnce && (this.#taken.get(tenant) ?? 0) < maxCallsPerTenant;
  }

  #count(tenant: string, by: 1 | -1): void {
    this.#used += by;
    const taken = (this.#taken.get(tenant) ?? 0) + by;
    if (taken === 0) this.#taken.delete(tenant);
    else this.#taken.set(tenant, taken);
  }

  async #wait(tenant: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { tenant, begin: resolve };
    const leave = () => {
      this.#waiting.delete(waiting);
      reject(signal.reason);
    };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** The slot goes to the first that waits and whose tenant has room. */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.tenant)) continue;
      this.#waiting.delete(waiting);
      this.#count(waiting.tenant, 1);
      waiting.begin();
      return;
    }
  }
}
