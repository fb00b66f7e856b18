/** The listeners of a store's commits: called in commit order; one that throws does not affect the others. */
import type { Commit, Interest } from '../ports/event-log.ts';

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
    for (const listener of this.#listeners) this.tellOne(listener, told);
  }

  protected tellOne(listener: (told: Told) => void, told: Told): void {
    try {
      listener(told);
    } catch (error) {
      this.#fault(error);
    }
  }
}

/** The followers of a store, and what they need of what other nodes wrote. */
export class Followers extends Listeners<Commit> {
  readonly #interests = new Map<(commit: Commit) => void, Interest | undefined>();

  follow(listener: (commit: Commit) => void, interest?: Interest): () => void {
    const entry = (commit: Commit): void => listener(commit);
    const remove = this.add(entry);
    this.#interests.set(entry, interest);
    return () => {
      this.#interests.delete(entry);
      remove();
    };
  }

  /** Whether a subscriber waits for the rows of a run or a context. */
  isWanted(of: Pick<Commit, 'runId' | 'contextId'>): boolean {
    for (const interest of this.#interests.values()) if (interest?.waits?.(of) === true) return true;
    return false;
  }

  /** Types of rows that a follower needs of every run; null for all of them. */
  types(): ReadonlySet<string> | null {
    const all = new Set<string>();
    for (const interest of this.#interests.values()) {
      const types = interest === undefined ? null : (interest.types?.() ?? []);
      if (types === null) return null;
      for (const type of types) all.add(type);
    }
    return all;
  }

  /** Some rows of a commit, for those that need rows of their types. The others hear of whole commits alone. */
  tellSome(commit: Commit): void {
    for (const [listener, interest] of this.#interests)
      if (interest?.types !== undefined) this.tellOne(listener, commit);
  }
}
