/** The listeners of a store's commits: called in commit order; one that throws does not affect the others. */
import type { Commit } from '../ports/event-log.ts';

/** Takes the error of a listener, which is a defect of the listener and never of the commit. */
export type ListenerFault = (error: unknown) => void;

/** The default: the error surfaces as an uncaught one. */
export const uncaught: ListenerFault = (error) =>
  queueMicrotask(() => {
    throw error;
  });

/** The listeners of anything that a store tells. */
export class Listeners<Told> {
  readonly #listeners = new Set<(told: Told) => void>();
  readonly #fault: ListenerFault;

  constructor(fault: ListenerFault = uncaught) {
    this.#fault = fault;
  }

  /** Each call adds a listener, also for the same function; returns the way to remove it. */
  add(listener: (told: Told) => void): () => void {
    const entry = (told: Told): void => listener(told);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  tell(told: Told): void {
    for (const listener of this.#listeners) {
      try {
        listener(told);
      } catch (error) {
        this.#fault(error);
      }
    }
  }
}

/** Whether a listener waits for rows of a run or a context. */
export type Wants = (of: Pick<Commit, 'runId' | 'contextId'>) => boolean;

/** Those that say what they want get it from other nodes at once, also under load. */
export class Followers extends Listeners<Commit> {
  readonly #wants = new Set<Wants>();

  follow(listener: (commit: Commit) => void, wants?: Wants): () => void {
    const remove = this.add(listener);
    if (wants === undefined) return remove;
    const entry: Wants = (of) => wants(of);
    this.#wants.add(entry);
    return () => {
      this.#wants.delete(entry);
      remove();
    };
  }

  isWanted(of: Pick<Commit, 'runId' | 'contextId'>): boolean {
    for (const wants of this.#wants) if (wants(of)) return true;
    return false;
  }
}
