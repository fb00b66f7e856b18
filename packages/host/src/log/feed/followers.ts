/** Those who follow a store's commits: told in commit order, and one that throws never keeps the others from hearing. */
import type { Commit } from '../ports/event-log.ts';

/** Where a listener's error goes; it is a defect of the listener, never of the commit. */
export type ListenerFault = (error: unknown) => void;

/** Nobody asked to be told, so the error surfaces as an uncaught one rather than vanish. */
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

  /** Each call is a subscription of its own, also for the same function. */
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
