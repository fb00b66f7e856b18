import type { Json, JsonObject } from '@cairn/protocol';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileSchema } from '../schemas.ts';

/** Few names and values, so that schemas and values meet. */
const name = fc.constantFrom('a', 'b', 'c');
const scalar: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  null,
  true,
  false,
  0,
  1,
  2,
  3,
  1.5,
  -1,
  '',
  'a',
  'b',
  'ab',
  '😀',
  '2024-02-30',
);
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
const count = fc.integer({ min: 0, max: 3 });

/** Keywords whose order in a schema, and so the choice of the first error, both implementations share. */
const schema = fc.letrec<{ schema: Json; object: JsonObject }>((tie) => {
  const sub = tie('schema');
  const list = fc.array(sub, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, sub, { maxKeys: 3, noNullPrototype: true });
  const names = fc.uniqueArray(name, { maxLength: 2 });
  const keywords: Record<string, fc.Arbitrary<Json>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
    const: value,
    enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
    minimum: count,
    maximum: count,
    exclusiveMinimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^.$'),
    format: fc.constantFrom('date', 'email', 'int32'),
    minItems: count,
    maxItems: count,
    prefixItems: list,
    items: sub,
    minProperties: count,
    maxProperties: count,
    required: names,
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c', '.'), sub, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: sub,
    propertyNames: sub,
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: named,
    dependencies: fc.dictionary(name, fc.oneof(names, sub), { maxKeys: 2, noNullPrototype: true }),
    not: sub,
    anyOf: list,
    oneOf: list,
    allOf: list,
    if: sub,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: sub,
    else: sub,
    // Ajv is mistaken about some larger ones, such as `false` next to `prefixItems`.
    contains: fc.constantFrom<Json>({ type: 'number' }, { const: 1 }, { minimum: 2 }),
    minContains: count,
    maxContains: count,
    unevaluatedProperties: sub,
    uniqueItems: fc.boolean(),
    $ref: fc.constantFrom('#/$defs/one', '#/$defs/two'),
  };
  const object = fc
    .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { minLength: 0, maxLength: 4 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((key) => [key, keywords[key] as fc.Arbitrary<Json>]))));
  return {
    schema: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), fc.constant({}), object),
    object,
  };
}).object;

const root = fc
  .tuple(schema, fc.record({ one: fc.constant({ type: 'number' }), two: fc.constant({ enum: ['a', { a: 1 }] }) }))
  .map(([object, $defs]): JsonObject => ({ ...object, $defs }));

/** Ajv reports more about alternatives that did not fit, so only the verdict and the last error count there. */
const hasAlternatives = /"(anyOf|oneOf|not|if|contains|propertyNames)"/;

/** Null when Ajv itself fails: it loses track of what alternatives evaluated. */
function byAjv(schemaObject: JsonObject): (data: Json) => readonly string[] | null {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schemaObject);
  return (data) => {
    try {
      return validate(data) ? [] : (validate.errors ?? []).map(textOf);
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  };
}

/**
 * Ajv takes the result of an earlier keyword for that of `contains` when there are no items, or fewer than `prefixItems`
 * has. It counts properties that matched a pattern in an alternative that did not fit.
 */
function isMistaken(schemaObject: JsonObject, data: Json): boolean {
  const text = JSON.stringify(schemaObject);
  if (text.includes('"unevaluatedProperties"') && text.includes('"patternProperties"')) return true;
  if (!text.includes('"contains"')) return false;
  return text.includes('"prefixItems"') || JSON.stringify(data).includes('[]');
}

test.each<[Json[], boolean]>([
  [[null], false],
  [[1], true],
  [[null, 1], true],
  [[null, 'a'], false],
])('next to prefixItems, %j is checked against contains: %j', (items, isValid) => {
  const check = compileSchema({ prefixItems: [true, true, { type: 'string' }], contains: { type: 'number' } });
  expect(check(items)).toEqual(isValid ? [] : ['the value must contain at least 1 valid item(s)']);
});

const textOf = ({ instancePath, message = '' }: ErrorObject): string =>
  `${instancePath || 'the value'} ${message.replace(/ \(items ## .*/, '')}`;

test('the interpreter agrees with Ajv on generated schemas and values, and reports the same errors', {
  timeout: 120_000,
}, () => {
  fc.assert(
    fc.property(root, fc.array(value, { minLength: 4, maxLength: 8 }), (schemaObject, values) => {
      const theirs = byAjv(schemaObject);
      const ours = compileSchema(schemaObject);
      const isExact = !hasAlternatives.test(JSON.stringify(schemaObject));
      for (const one of values) {
        const expected = theirs(one);
        const found = ours(one);
        if (expected === null || isMistaken(schemaObject, one)) continue;
        if (isExact) expect(found).toEqual(expected);
        else expect([found.length > 0, found.at(-1)]).toEqual([expected.length > 0, expected.at(-1)]);
      }
    }),
    { numRuns: Number(process.env.SCHEMA_RUNS ?? 150) },
  );
});
