/** The node types and the performers of a host. A development host replaces its steps while runs go on. */
import type { Performer, Step } from '../ports.ts';
import type { NodeType, NodeTypeRegistry } from '../workflow/node-type.ts';
import { createNodeTypeRegistry } from './node-types.ts';

export class StepTypes {
  readonly #others: readonly NodeType[];
  readonly #nodeTypes = new Map<string, NodeType>();
  readonly #performers: Map<string, Performer>;

  constructor(steps: readonly Step[], others: readonly NodeType[], performers: readonly Performer[]) {
    this.#others = others;
    this.#performers = new Map(performers.map((performer) => [performer.typeId, performer]));
    this.replace(steps);
  }

  get nodeTypes(): NodeTypeRegistry {
    return this.#nodeTypes;
  }

  get performers(): ReadonlyMap<string, Performer> {
    return this.#performers;
  }

  /**
   * Definitions can name these steps instead of those before. A run in memory can still call a step that is gone. Throws
   * `config_invalid` for two steps of one name, and then changes nothing.
   */
  replace(steps: readonly Step[]): void {
    const next = createNodeTypeRegistry(steps, this.#others);
    this.#nodeTypes.clear();
    for (const [typeId, type] of next) this.#nodeTypes.set(typeId, type);
    for (const step of steps) this.#performers.set(step.typeId, step);
  }
}
