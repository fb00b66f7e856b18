import { expect, test } from 'vitest';
import { choiceLabel, initialOf, readSchema, widgetOf } from './schema.ts';

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'string', maxLength: 2_000 }, 'area'],
  [{ type: 'string', enum: ['a', 'b'] }, 'choice'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'boolean' }, 'check'],
  [{ type: 'array', items: { type: 'string' } }, 'lines'],
  [{ type: 'array', items: { type: 'object' } }, 'json'],
  [{ type: 'object', properties: { a: { type: 'string' } } }, 'group'],
  [{ type: ['object', 'null'], properties: { a: { type: 'string' } } }, 'group'],
  [{ type: ['string', 'null'] }, 'json'],
  [{ type: 'object' }, 'json'],
  [{ anyOf: [{ type: 'string' }] }, 'json'],
  [{ oneOf: [{ const: 1, title: 'One' }, { const: 2 }] }, 'choice'],
  [{ oneOf: [{ const: 1 }, { type: 'string' }] }, 'json'],
  [{ const: 'only' }, 'choice'],
  ['nonsense', 'json'],
  [{ type: 7, enum: [], properties: [], required: 'x' }, 'json'],
])('%j becomes %s', (schema, widget) => {
  expect(widgetOf(readSchema(schema), 0)).toBe(widget);
});

test('a form begins with the defaults of the schema, and with nothing for the rest', () => {
  const schema = readSchema({
    type: 'object',
    properties: { city: { type: 'string', default: 'Bern' }, late: { type: 'boolean' }, nights: { type: 'integer' } },
    required: ['nights', 7],
  });
  expect(initialOf(schema)).toEqual({ city: 'Bern', late: false });
  expect(schema.required).toEqual(['nights']);
});

test('a schema that nests without end is cut, and the rest is typed in as JSON', () => {
  let deep: { type: string; properties?: object } = { type: 'string' };
  for (let i = 0; i < 1_000; i += 1) deep = { type: 'object', properties: { a: deep } };
  let [schema, depth] = [readSchema(JSON.parse(JSON.stringify(deep))), 0];
  while (widgetOf(schema, depth) === 'group') [schema, depth] = [schema.properties?.a ?? schema, depth + 1];
  expect([depth, widgetOf(schema, depth)]).toEqual([3, 'json']);
});

test('constants with titles become a choice by their titles', () => {
  const oneOf = [{ const: 'a', title: 'Alpha' }, { const: 2, description: 'the other' }, { const: null }];
  const schema = readSchema({ oneOf });
  expect(schema.enum).toEqual(['a', 2, null]);
  expect([0, 1, 2].map((at) => choiceLabel(schema, at))).toEqual(['Alpha', '2 – the other', 'null']);
});

test('what has to be typed in as JSON keeps its schema for the reader, unless it takes anything', () => {
  const either = {
    oneOf: [
      { type: 'object', required: ['card'] },
      { type: 'object', required: ['iban'] },
    ],
  };
  expect(readSchema(either).unknown).toEqual(either);
  expect(readSchema({ title: 'Anything' }).unknown).toBeUndefined();
  expect(readSchema({ type: 'string' }).unknown).toBeUndefined();
});
