/** Timers that pass when the test says so. */
import type { Timers } from '../engine/ports.ts';

/** Spans that pass when the test says so. */
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

  /** How many wait for this span. */
  waiting(ms: number): number {
    return [...this.#waiting].filter((entry) => entry.ms === ms).length;
  }

  /** Wakes all who wait for this span now. */
  pass(ms: number): void {
    for (const entry of [...this.#waiting]) {
      if (entry.ms === ms && this.#waiting.delete(entry)) entry.wake();
    }
  }
}
