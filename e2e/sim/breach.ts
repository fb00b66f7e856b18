/** A broken promise of the system under simulation: which one, and the facts that show it. */
export interface Breach {
  readonly invariant: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Called where a promise is found broken. It never throws: the caller may be deep inside the system itself. */
export type Complain = (invariant: string, facts: Breach['facts']) => void;

/** Keeps the first one; what follows it is usually its consequence. */
export class Complaints {
  #first: Breach | null = null;

  readonly complain: Complain = (invariant, facts) => {
    this.#first ??= { invariant, facts };
  };

  get first(): Breach | null {
    return this.#first;
  }
}
