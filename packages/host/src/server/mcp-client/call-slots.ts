/** Lets a few calls run at once. The others wait, in order, until they are given up. */

export class CallSlots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  async use<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(resolve);
      reject(signal.reason);
    };
    this.#waiting.add(resolve);
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** The slot goes to whoever has waited longest. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
