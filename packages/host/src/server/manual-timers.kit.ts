/** Timers that the test fires. */
import type { Timers } from '../engine/ports.ts';

/** Timers that fire when the test calls `pass`. */
export class ManualTimers implements Timers {
  readonly #waiting = new Set<{ readonly ms: number; readonly wake: () => void }>();

  after(ms: number, wake: () => void): () => void {
    const entry = { ms, wake };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The delays that are waited for. */
  get delays(): readonly number[] {
    return [...this.#waiting].map(({ ms }) => ms);
  }

  /** How many timers wait for this delay. */
  waiting(ms: number): number {
    return [...this.#waiting].filter((entry) => entry.ms === ms).length;
  }

  /** Fires all timers with this delay now. */
  pass(ms: number): void {
    for (const entry of [...this.#waiting]) {
      if (entry.ms === ms && this.#waiting.delete(entry)) entry.wake();
    }
  }
}
