/** An attack of one tenant. */
import type { Attacker } from './attacker.ts';

export { chain, definition, fan, fixedInput, type Graph, looped } from './graph.ts';

export interface Attack {
  readonly name: string;
  /** Codes of which one must be seen. Without it, any documented end will do. */
  readonly endsWith?: readonly string[];
  run(attacker: Attacker): Promise<void>;
}
