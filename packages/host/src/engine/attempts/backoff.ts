/** Exponential backoff between retries of a failing store; the wait ends early when the host stops. */
import type { Clock } from '../ports.ts';

const FROM_MS = 50;
const TO_MS = 5_000;

export class Backoff {
  readonly #clock: Clock;
  #nextMs = FROM_MS;
  #end: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const off = this.#clock.wakeAt(this.#clock.now() + this.#nextMs, resolve);
    this.#nextMs = Math.min(this.#nextMs * 2, TO_MS);
    this.#end = resolve;
    await promise;
    this.#end = null;
    off();
  }

  /** Resets after a success: the next failure starts with a short wait. */
  reset(): void {
    this.#nextMs = FROM_MS;
  }

  cutShort(): void {
    this.#end?.();
  }
}
