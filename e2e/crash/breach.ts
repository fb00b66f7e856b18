/** A promise that did not survive a crash: which one, and the facts that show it. */
export interface Breach {
  readonly promise: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export type Complain = (promise: string, facts: Breach['facts']) => void;
