/** A scenario of a fixture: one behaviour, described as a sentence and checked over the wire. */
import type { WireHost } from './wire-host.ts';

export interface Scenario {
  /** Completes the sentence "<fixture> ...". */
  readonly name: string;
  /** Called after the fixture is registered. */
  run(host: WireHost): Promise<void>;
}

/** Scenarios by fixture id. */
export type Scenarios = Readonly<Record<string, readonly Scenario[]>>;
