/** A broken guarantee of the simulated system: which one, and the evidence. */
export interface Breach {
  readonly invariant: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Reports a broken guarantee. Never throws: the caller may be deep inside the system itself. */
export type Complain = (invariant: string, facts: Breach['facts']) => void;

/** Keeps the first breach. Later ones are usually its consequences. */
export class Complaints {
  #first: Breach | null = null;

  readonly complain: Complain = (invariant, facts) => {
    this.#first ??= { invariant, facts };
  };

  get first(): Breach | null {
    return this.#first;
  }
}
