/** The listeners of a store's commits: called in commit order; one that throws does not affect the others. */
import type { Commit } from '../ports/event-log.ts';

/** Takes the error of a listener, which is a defect of the listener and never of the commit. */
export type ListenerFault = (error: unknown) => void;

/** The default: the error surfaces as an uncaught one. */
export const uncaught: ListenerFault = (error) =>
  queueMicrotask(() => {
    throw error;
  });

export class Followers {
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #fault: ListenerFault;

  constructor(fault: ListenerFault = uncaught) {
    this.#fault = fault;
  }

  /** Each call adds a listener, also for the same function; returns the way to remove it. */
  add(listener: (commit: Commit) => void): () => void {
    const entry = (commit: Commit): void => listener(commit);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  tell(commit: Commit): void {
    for (const listener of this.#listeners) {
      try {
        listener(commit);
      } catch (error) {
        this.#fault(error);
      }
    }
  }
}
