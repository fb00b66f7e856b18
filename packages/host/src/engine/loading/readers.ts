/**
 * Pending reads of a run's state. A reader takes its values synchronously, because the state may then move ahead of the
 * log.
 */
import type { RunState } from '../core/state.ts';

interface Reader {
  readonly look: (state: RunState) => void;
  readonly failed: (error: unknown) => void;
}

export class Readers {
  #waiting: Reader[] = [];

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  add<T>(look: (state: RunState) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ look: (state) => resolve(look(state)), failed: reject });
    });
  }

  serve(state: RunState): void {
    if (this.#waiting.length === 0) return;
    for (const reader of this.#waiting.splice(0)) {
      try {
        reader.look(state);
      } catch (error) {
        reader.failed(error);
      }
    }
  }

  turnAway(error: unknown): void {
    for (const reader of this.#waiting.splice(0)) reader.failed(error);
  }
}
