/** Work that is done soon after it is asked for: one at a time, and no more often than the askers want it. */

export interface PacedPorts {
  readonly work: () => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number;
}

export class Paced {
  readonly #ports: PacedPorts;
  #timer: NodeJS.Timeout | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.POSITIVE_INFINITY;
  #isWorking = false;
  #isClosed = false;

  /** `work` must not throw. */
  constructor(ports: PacedPorts) {
    this.#ports = ports;
  }

  /** Milliseconds since the work began the last time. */
  get sinceMs(): number {
    return this.#ports.elapsedMs() - this.#lastAt;
  }

  /** At once when the work last began so long ago. Asked for meanwhile, it is done again. */
  ask(afterMs: number): void {
    if (this.#isClosed) return;
    const at = this.#lastAt + afterMs;
    if (at >= this.#nextAt) return;
    this.#nextAt = at;
    if (!this.#isWorking) this.#await();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #await(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const waitMs = this.#nextAt - this.#ports.elapsedMs();
    if (waitMs <= 0) void this.#do();
    else this.#timer = setTimeout(() => void this.#do(), waitMs);
  }

  async #do(): Promise<void> {
    this.#timer = null;
    this.#isWorking = true;
    this.#nextAt = Number.POSITIVE_INFINITY;
    this.#lastAt = this.#ports.elapsedMs();
    await this.#ports.work();
    this.#isWorking = false;
    if (!this.#isClosed && this.#nextAt < Number.POSITIVE_INFINITY) this.#await();
  }
}
