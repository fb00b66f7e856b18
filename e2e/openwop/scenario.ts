/** What a fixture is run for: one behaviour, told as a sentence, checked over the wire. */
import type { WireHost } from './wire-host.ts';

export interface Scenario {
  /** Completes the sentence "<fixture> ...". */
  readonly name: string;
  /** The fixture is registered. */
  run(host: WireHost): Promise<void>;
}

/** Scenarios by fixture id. */
export type Scenarios = Readonly<Record<string, readonly Scenario[]>>;
