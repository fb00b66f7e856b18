import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_JSON_DEPTH, parseJsonBody } from './json-body.ts';

const parse = (text: string) => parseJsonBody(Buffer.from(text));

test('reads any JSON as the platform does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      fc.pre(!text.includes('"__proto__"'));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('refuses a repeated key wherever it is, and names it', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (key, one, two) => {
      fc.pre(key !== '__proto__');
      const repeated = `{${JSON.stringify(key)}:${JSON.stringify(one)} , ${JSON.stringify(key)} :${JSON.stringify(two)}}`;
      fc.pre(!repeated.includes('"__proto__"'));
      expect(() => parse(`[{"a":${repeated}}]`)).toThrow('repeats the key');
    }),
  );
  expect(() => parse('{"a":{"b":1},"c":{"b":2,"d\\"":3,"d\\u0022":4}}')).toThrow('repeats the key "d\\""');
});

test.each([
  ['tiny objects', `[${Array(50_000).fill('{}').join(',')}]`, '50000 objects, lists and members'],
  [
    'members',
    `{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
    '50000 objects, lists and members',
  ],
  [
    'names',
    `[${Array.from({ length: 10_001 }, (_, i) => `{"k${i}":1}`).join(',')}]`,
    '10000 different names of members',
  ],
  ['items', `[${Array(200_002).fill('1').join(',')}]`, '200000 items'],
])('refuses too many %s before it reads them', (_, text, message) => {
  expect(() => parse(text)).toThrow(message);
  expect(parseJsonBody(Buffer.from(text), { parts: 60_000, items: 300_000, names: 60_000 })).toEqual(JSON.parse(text));
});

test('takes records that repeat their names as often as parts allow', () => {
  const text = JSON.stringify({ rows: Array.from({ length: 12_000 }, (_, i) => ({ id: i, name: 'a:b', at: ':' })) });
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('a long text may hold any punctuation', () => {
  const text = JSON.stringify({ text: '{[:,]}'.repeat(50_000) });
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('does not take punctuation inside strings for structure', () => {
  expect(parse('{"a:{[":"\\\\\\":{[,","b":"\\\\"}')).toEqual({ 'a:{[': '\\":{[,', b: '\\' });
});

test.each([
  ['{"a":1', 'not JSON'],
  ['', 'not JSON'],
  ['{"a":"unterminated', 'not JSON'],
  ["{'a':1}", 'not JSON'],
  ['{"__proto__":{"admin":true}}', '__proto__'],
])('refuses %s', (text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test('refuses bytes that are not UTF-8', () => {
  expect(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow('UTF-8');
});

test('takes the deepest nesting allowed and refuses one level more', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(parse(nested(MAX_JSON_DEPTH))).toBeTypeOf('object');
  expect(() => parse(nested(MAX_JSON_DEPTH + 1))).toThrow(`deeper than ${MAX_JSON_DEPTH}`);
});

test.each(['"\\ud800"', '{"a":["\\udfff"]}', '{"\\uD83d":1}', '"\\udc00\\ud800"'])(
  'refuses %s: half of a surrogate pair is no text',
  (text) => {
    expect(() => parseJsonBody(Buffer.from(text))).toThrow(/surrogate/);
  },
);

test('takes whole surrogate pairs, and escapes of escapes', () => {
  expect(parseJsonBody(Buffer.from('["\\ud83e\\uddf1","\\\\ud800"]'))).toEqual(['\u{1F9F1}', '\\ud800']);
});

test.each(['1e999', '{"a":[-1e999]}', `[${'9'.repeat(400)}]`])('refuses %s: no double holds it', (text) => {
  expect(() => parse(text)).toThrow(/too large/);
});

test('reads a negative zero as the zero that is written', () => {
  expect(Object.is(parse('-0'), 0)).toBe(true);
  expect(parse('{"a":[-0.0,-1e-999,-1]}')).toEqual({ a: [0, 0, -1] });
  expect(Object.is((parse('[-0]') as number[])[0], 0)).toBe(true);
});
