/** A guarantee broken by a crash: which one, and the evidence. */
export interface Breach {
  readonly promise: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export type Complain = (promise: string, facts: Breach['facts']) => void;
