/** Expressions and patterns that cost more than they look. */
import type { JsonObject } from '@cairn/protocol';
import type { Attack } from '../attack.ts';

const list = (length: number): number[] => Array.from({ length }, () => 0);

/** Evaluates the expression once in a run. */
export const expressionAttack = (name: string, expression: string, inputs: JsonObject): Attack => ({
  name,
  run: (attacker) =>
    attacker.play(
      name,
      { nodes: [{ id: 'set', typeId: 'core.setVariable', config: { name: 'v', expression } }] },
      inputs,
    ),
});

const repeated = '[ab]{0,1000}'.repeat(70);

const refused = (attack: Attack): Attack => ({ ...attack, endsWith: ['expression_failed', 'validation_error'] });

export const expressionAttacks: readonly Attack[] = [
  refused(expressionAttack('cel-map-of-lists', 'inputs.a.map(x, inputs.b)', { a: list(40_000), b: list(40_000) })),
  refused(
    expressionAttack(
      'cel-size-of-text',
      `inputs.a.all(x, ${Array.from({ length: 20 }, () => 'size(inputs.s) > 0').join(' && ')})`,
      { a: list(40_000), s: 'é'.repeat(200_000) },
    ),
  ),
  refused(
    expressionAttack('cel-equal-lists', 'inputs.a.all(x, inputs.b == inputs.c)', {
      a: list(20_000),
      b: list(40_000),
      c: list(40_000),
    }),
  ),
  refused(expressionAttack('cel-in-list', 'inputs.a.exists(x, 1 in inputs.b)', { a: list(40_000), b: list(40_000) })),
  refused(
    expressionAttack('cel-text-functions', 'inputs.a.all(x, inputs.s.contains("b") || inputs.s.endsWith("a"))', {
      a: list(40_000),
      s: 'a'.repeat(400_000),
    }),
  ),
  refused(expressionAttack('pattern-repeats', `inputs.s.matches("${repeated}")`, { s: 'ab'.repeat(600) })),
  {
    name: 'pattern-of-an-edge',
    endsWith: ['expression_failed', 'validation_error'],
    run: (attacker) =>
      attacker.play(
        'pattern-of-an-edge',
        {
          nodes: [
            { id: 'a', typeId: 'core.noop' },
            { id: 'b', typeId: 'core.noop' },
          ],
          edges: [{ from: 'a', to: 'b', condition: { type: 'regex', left: 'inputs.s', right: `^${repeated}$` } }],
        },
        { s: 'ab'.repeat(600) },
      ),
  },
  {
    name: 'many-expressions-of-one-step',
    run: (attacker) =>
      attacker.play(
        'many-expressions-of-one-step',
        {
          nodes: [
            { id: 'a', typeId: 'core.noop' },
            ...Array.from({ length: 400 }, (_, index) => ({ id: `b${index}`, typeId: 'core.noop' })),
          ],
          edges: Array.from({ length: 400 }, (_, index) => ({
            from: 'a',
            to: `b${index}`,
            condition: { type: 'expression', expression: 'inputs.a.all(x, x == 0)' },
          })),
        },
        { a: list(40_000) },
      ),
  },
];
