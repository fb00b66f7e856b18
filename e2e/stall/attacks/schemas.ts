/** JSON Schemas that are dear to compile or to check. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Attack, Graph } from '../attack.ts';

const asks = (...schemas: readonly JsonObject[]): Graph => ({
  nodes: [
    {
      id: 'ask',
      typeId: 'core.clarificationGate',
      config: { questions: schemas.map((schema, index) => ({ id: `q${index}`, question: 'Well?', schema })) },
    },
  ],
});

/** A question with this schema, and an answer to it. */
export const schemaAttack = (name: string, schema: JsonObject, answer: Json): Attack => ({
  name,
  async run(attacker) {
    if (!(await attacker.register(name, asks(schema)))) return;
    const runId = await attacker.start(name);
    await attacker.answer(runId, 'ask', { answers: { q0: answer } });
  },
});

const manyPatterns = (_: unknown, schema: number): JsonObject => ({
  patternProperties: Object.fromEntries(
    Array.from({ length: 48 }, (_, index) => [`^${schema}.${index}${'[a-z]{0,999}'.repeat(75)}$`, { type: 'string' }]),
  ),
});

const nested = (depth: number): Json => (depth === 0 ? 'x' : { a: nested(depth - 1) });

export const schemaAttacks: readonly Attack[] = [
  schemaAttack('schema-format-url', { type: 'string', format: 'url' }, `http://${':'.repeat(200_000)}`),
  { ...schemaAttack('schema-format-unknown', { format: 'a\nforged line' }, 'x'), endsWith: ['validation_error'] },
  {
    name: 'schema-pattern-properties',
    // 240 patterns in five schemas: 229 kB, none of them large on its own.
    async run(attacker) {
      const graph = asks(...Array.from({ length: 5 }, manyPatterns));
      if (await attacker.register('schema-pattern-properties', graph))
        await attacker.start('schema-pattern-properties');
    },
  },
  schemaAttack(
    'schema-refs-that-double',
    {
      $defs: { d: { properties: { a: { allOf: [{ $ref: '#/$defs/d' }, { $ref: '#/$defs/d' }] } } } },
      $ref: '#/$defs/d',
    },
    nested(40),
  ),
  schemaAttack(
    'schema-unique-items',
    { uniqueItems: true },
    Array.from({ length: 20_000 }, (_, i) => ({ i })),
  ),
  schemaAttack('schema-pattern', { type: 'string', pattern: '[ab]{0,1000}'.repeat(70) }, 'ab'.repeat(600)),
  schemaAttack(
    'schema-many-alternatives',
    { items: { anyOf: Array.from({ length: 300 }, (_, index) => ({ const: index })) } },
    Array.from({ length: 20_000 }, () => -1),
  ),
];
