import type { Json, JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { compileSchema, schemaProblems } from './schemas.ts';

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
  // Compared each with each, these would cost more than a check may.
  expect(check(Array.from({ length: 5_000 }, (_, i) => ({ a: i })))).toEqual([]);
});

test('a value that is too large for its schema is not checked', () => {
  const anyOf = Array.from({ length: 1_000 }, () => ({ type: 'null' }));
  const check = compileSchema({ type: 'array', items: { anyOf: [...anyOf, { type: 'number' }] } });
  expect(check([1, 2, 3])).toEqual([]);
  expect(check(Array.from({ length: 100_000 }, (_, i) => i))).toEqual([
    'the value is too large to be checked by this schema',
  ]);
});

function nested(levels: number, around: (next: JsonObject) => JsonObject): JsonObject {
  let schema: JsonObject = { minimum: 0 };
  for (let level = 0; level < levels; level += 1) schema = around(schema);
  return schema;
}

function list<Item>(length: number, itemOf: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => itemOf(index));
}

function named(length: number, entryOf: (index: number) => [string, Json]): JsonObject {
  return Object.fromEntries(list(length, entryOf));
}

/** A value and a schema, small as texts, whose check would take much longer than a turn of the event loop. */
test.each<[string, JsonObject, Json]>([
  [
    'alternatives in alternatives',
    { contains: nested(5, (next) => ({ anyOf: [next, next, next, next] })) },
    list(3_000, () => -1),
  ],
  ['all of all', { items: nested(5, (next) => ({ allOf: [next, next, next, next] })) }, list(3_000, (i) => i)],
  [
    'a large value compared with many',
    { items: { enum: list(1_000, (i) => ({ i })) } },
    list(1_000, () => ({ i: 999 })),
  ],
  [
    'many names by many patterns',
    { patternProperties: named(60, (i) => [`x${i}$`, {}]) },
    named(5_000, (i) => [`y${i}`, 1]),
  ],
  ['unique objects', { uniqueItems: true }, list(100_000, (i) => ({ i }))],
  ['a long text by many formats', { items: { format: 'uri' } }, list(500, () => `http://${'a'.repeat(8_000)}`)],
  [
    'many names that nobody evaluated',
    { items: { unevaluatedProperties: {}, anyOf: list(500, () => ({ properties: { a: {} } })) } },
    list(1_000, () => ({ a: 1 })),
  ],
])('a check that would cost too much ends: %s', (_name, schema, value) => {
  expect(compileSchema(schema)(value)).toEqual(['the value is too large to be checked by this schema']);
});

test('a value of a megabyte fits an ordinary schema', () => {
  const properties = {
    id: { type: 'integer', minimum: 0 },
    name: { type: 'string', maxLength: 100 },
    ok: { type: 'boolean' },
  };
  const check = compileSchema({ type: 'array', items: { type: 'object', required: ['id', 'name'], properties } });
  const value = list(20_000, (id) => ({ id, name: `The name of number ${id}`, ok: true }));
  expect(JSON.stringify(value).length).toBeGreaterThan(1_000_000);
  expect(check(value)).toEqual([]);
});

test('an unknown format is refused, and the error lists the known ones', () => {
  const refused = () => compileSchema({ properties: { a: { format: 'x\ninvented' } } });
  expect(refused).toThrow('the format "x\\ninvented" is not known; there are base64, base64url, binary, byte');
});

test('a stored schema with an unknown format is still used, without that format', () => {
  const schema = { type: 'string', format: 'colour' };
  expect([schemaProblems(schema, 'red'), schemaProblems(schema, 1)]).toEqual([[], ['the value must be string']]);
});

test('a stored schema that is refused now refuses every value', () => {
  expect(schemaProblems({ $ref: '#' }, 1)).toEqual([
    'the value cannot be checked, because its schema is refused: it refers to itself',
  ]);
});

test.each<[string, Json, boolean]>([
  ['url', 'https://example.org/a?b#c', true],
  ['url', 'ftp://user@example.org', true],
  ['url', 'https://', false],
  ['url', 'example.org', false],
  ['url', 'https://exa mple.org', false],
  ['url', 1, true],
  ['byte', 'aGk=', true],
  ['byte', 'aGk', false],
  ['byte', 'aG=k', false],
  ['byte', 'AAAA'.repeat(100_000), true],
  ['regex', '^(a|b)$', true],
  ['regex', '(', false],
  ['int32', 2 ** 31 - 1, true],
  ['int32', 2 ** 31, false],
  ['int64', 1.5, false],
  ['date', '2024-02-29', true],
  ['date', '2023-02-29', false],
  ['uri', `urn:${'a'.repeat(8_000)}`, true],
  ['uri', `urn:${'a'.repeat(8_200)}`, false],
  ['email', `${'a'.repeat(300)}@example.org`, false],
  ['cuid', 'anything', true],
])('the format %s of %j is %s', (format, value, fits) => {
  expect(compileSchema({ format })(value)).toEqual(fits ? [] : [`the value must match format "${format}"`]);
});

test('unevaluated items are those that no schema of the place looked at', () => {
  const check = compileSchema({ prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false });
  expect([check([1, 'a']), check([1, 2, 'a']), check(['a'])]).toEqual([
    [],
    ['the value must NOT have more than 1 items'],
    [],
  ]);
  const nestedCheck = compileSchema({
    anyOf: [{ prefixItems: [true] }, { prefixItems: [true, true] }],
    unevaluatedItems: { type: 'null' },
  });
  expect([nestedCheck([1, 2, null]), nestedCheck([1, 2, 3])]).toEqual([[], ['/2 must be null']]);
});

test('a schema is refused where it is wrong', () => {
  const schema = { properties: { a: { items: { minLength: -1 } } } };
  expect(() => compileSchema(schema)).toThrow(
    'the schema is invalid: /properties/a/items/minLength must be a whole number',
  );
  expect(() => compileSchema({ type: 'text' })).toThrow('the schema is invalid: /type must be one of string, number');
  expect(() => compileSchema({ items: [{}] })).toThrow('the schema is invalid: /items must be object,boolean');
});

test('properties that every object inherits are not there unless the value has them', () => {
  const check = compileSchema({ properties: { constructor: { type: 'string' } }, required: ['toString'] });
  expect(check({})).toEqual(["the value must have required property 'toString'"]);
  expect(check(JSON.parse('{"toString": 1, "constructor": 2}'))).toEqual(['/constructor must be string']);
});

test('an error names a long path only in part', () => {
  const [text] = compileSchema({ additionalProperties: { type: 'null' } })({ ['x'.repeat(100_000)]: 1 });
  expect(text?.length).toBe(1_001);
});

test('the errors of alternatives are limited in number, and the last one is about the whole value', () => {
  const errors = compileSchema({ anyOf: list(100, (i) => ({ const: i })) })('x');
  expect([errors.length, errors.at(-1)]).toEqual([50, 'the value must match a schema in anyOf']);
});

test('a schema has a limit in what its patterns cost to compile', () => {
  const schema = (count: number) => ({ patternProperties: named(count, (i) => [`^x${i}[a-z]{0,9}$`, {}]) });
  expect(() => compileSchema(schema(30))).not.toThrow();
  expect(() => compileSchema(schema(240))).toThrow('its patterns cost more than 100000 units to compile in all');
});
