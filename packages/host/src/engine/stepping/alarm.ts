/** One wake-up for a held run: only the holder watches the run's timers. */
import type { Clock } from '../ports.ts';

export class Alarm {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #set: { readonly at: number; readonly off: () => void } | null = null;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Replaces the current alarm; null clears it. */
  set(at: number | null): void {
    if (this.#set !== null && this.#set.at === at) return;
    this.#set?.off();
    this.#set = null;
    if (at === null) return;
    const off = this.#clock.wakeAt(at, () => {
      this.#set = null;
      this.#wake();
    });
    this.#set = { at, off };
  }
}
