/** Names that are wrong, long, many and alike: each is compared with the right ones. */
import type { JsonObject } from '@cairn/protocol';
import type { Attack } from '../attack.ts';
import { definition } from '../attack.ts';
import type { Attacker } from '../attacker.ts';

const long = (of: string, i: number): string => `${of}${i}`.padEnd(60, 'abcdefghij');

const times = <Item>(count: number, item: (i: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, i) => item(i));

const objectOf = (names: readonly string[], value: JsonObject | number): JsonObject =>
  Object.fromEntries(names.map((name) => [name, value]));

const noop = { id: 'a', typeId: 'core.noop' };
const variables = times(1_000, (i) => ({ name: long('v', i), type: 'string' }));

/** Inputs of a node that name variables of which none exists. */
const wrongInputs = (count: number): JsonObject =>
  Object.fromEntries(
    times(count, (i) => [`i${i}`, { type: 'variable', variableName: long(`${i}`, i), optional: true }]),
  );

const start = (attacker: Attacker, workflowId: string, configurable: JsonObject) =>
  attacker.send('/v1/runs', { body: { workflowId, configurable } });

export const nameAttacks: readonly Attack[] = [
  {
    name: 'names-of-variables-that-are-wrong',
    async run(attacker) {
      const graph = { nodes: [{ ...noop, inputs: wrongInputs(2_000) }], more: { variables: [...variables] } };
      await attacker.register('names-variables', graph);
    },
  },
  {
    name: 'names-of-options-that-are-wrong',
    endsWith: ['validation_error'],
    async run(attacker) {
      const properties = objectOf(
        times(800, (i) => long('p', i)),
        {},
      );
      const configurableSchema = { type: 'object', properties, additionalProperties: false };
      await attacker.register('names-options', { nodes: [noop], more: { configurableSchema } });
      const near = objectOf(
        times(5_000, (i) => long('q', i)),
        1,
      );
      const many = objectOf(
        times(45_000, (i) => `k${i}`),
        1,
      );
      for (const configurable of [near, many, { ai: many }]) await start(attacker, 'names-options', configurable);
    },
  },
  {
    name: 'names-of-nodes-that-are-wrong',
    endsWith: ['validation_error'],
    async run(attacker) {
      const nodes = times(1_000, (i) => ({ id: long('n', i), typeId: 'core.noop' }));
      const edges = times(1_000, (i) => ({ from: long('n', 0), to: long('m', i) }));
      await attacker.send('/v1/workflows', { body: definition('names-nodes', { nodes, edges }) });
      const settings = objectOf(
        times(4_900, (i) => `delayM${i}`),
        1,
      );
      await attacker.register('names-settings', { nodes: [{ id: 'a', typeId: 'core.delay', config: settings }] });
    },
  },
];
