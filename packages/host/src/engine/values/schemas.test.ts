import type { Json, JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { compileSchema } from './schemas.ts';

/** Each level tries the next one twice. */
function doubling(levels: number): JsonObject {
  const $defs: Record<string, Json> = { [`a${levels}`]: { type: 'number' } };
  for (let i = 0; i < levels; i += 1) {
    const next = { $ref: `#/$defs/a${i + 1}` };
    $defs[`a${i}`] = { anyOf: [next, { ...next }] };
  }
  return { $defs, $ref: '#/$defs/a0' };
}

test.each<[string, JsonObject, RegExp]>([
  ['that refers to itself', { $ref: '#' }, /refers to itself/],
  ['that refers to itself over another', { $defs: { a: { not: { $ref: '#/$defs/a' } } } }, /refers to itself/],
  ['that means billions of checks', doubling(30), /more than 5000 parts/],
  ['that refers by anchor', { $ref: '#name', $defs: { a: { $anchor: 'name' } } }, /is not a path in the schema/],
  ['that refers to the schema of schemas', { $ref: 'https://json-schema.org/draft/2020-12/schema' }, /is not a path/],
  ['that refers to what is not there', { $ref: '#/$defs/a' }, /can't resolve/],
  ['with a dynamic reference', { $dynamicRef: '#a' }, /\$dynamicRef/],
  ['with a schema of its own inside', { properties: { a: { $id: 'x', $ref: '#' } } }, /\$id/],
])('a schema %s is refused before anything is checked by it', (_name, schema, message) => {
  expect(() => compileSchema(schema)).toThrow(message);
});

test('references to what is shared are followed, also through escaped names', () => {
  const shared = { $defs: { 'a/b~c %': { type: 'integer' } } };
  const one = { $ref: '#/$defs/a~1b~0c%20%25' };
  const check = compileSchema({ ...shared, type: 'object', properties: { x: one, y: one } });
  expect(check({ x: 1, y: 2 })).toEqual([]);
  expect(check({ x: 1, y: 'two' })).toEqual(['/y must be integer']);
});

test('properties may have the names of keywords', () => {
  const text = { type: 'string' };
  const check = compileSchema({ type: 'object', properties: { $ref: text, $id: text, uniqueItems: text } });
  expect([check({ $ref: 'a', $id: 'b' }), check({ $id: 1 })]).toEqual([[], ['/$id must be string']]);
});

test('items that are equal are found, whatever they are, and in time that grows with the list', () => {
  const check = compileSchema({ type: 'array', uniqueItems: true });
  expect(
    check([
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ]),
  ).toEqual(['the value must NOT have duplicate items']);
  expect(check([1, '1', [1], { a: 1 }, null, true])).toEqual([]);
  expect(compileSchema({ uniqueItems: false })([1, 1])).toEqual([]);
  // Compared each with each these would take minutes.
  expect(check(Array.from({ length: 100_000 }, (_, i) => ({ a: i })))).toEqual([]);
});

test('a value that is too large for its schema is not checked', () => {
  const anyOf = Array.from({ length: 1_000 }, () => ({ type: 'null' }));
  const check = compileSchema({ type: 'array', items: { anyOf: [...anyOf, { type: 'number' }] } });
  expect(check([1, 2, 3])).toEqual([]);
  expect(check(Array.from({ length: 100_000 }, (_, i) => i))).toEqual([
    'the value is too large to be checked by this schema',
  ]);
});
