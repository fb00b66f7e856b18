import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonResult } from './json-result.ts';

const MAX = 240_000;

test('half characters are mended, in texts and in names', () => {
  expect(jsonResult({ 'a\ud800': ['b\udc00', '😀'] }, 1_000)).toEqual({ json: { 'a\ufffd': ['b\ufffd', '😀'] } });
});

test('what is JSON comes out as it went in, and its size is counted to the byte', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      expect(JSON.stringify(jsonResult(value, bytes))).toBe(JSON.stringify({ json: value }));
      expect(jsonResult(value, bytes - 1)).toHaveProperty('problem');
    }),
  );
});

test('text of every kind is counted as JSON writes it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      (half) => {
        const text = half.toWellFormed();
        const bytes = Buffer.byteLength(JSON.stringify(text));
        expect(jsonResult(half, bytes)).toEqual({ json: text });
        expect(jsonResult(half, bytes - 1)).toHaveProperty('problem');
      },
    ),
  );
});

test('dates are written out, members that are undefined are left out, holes are null, nothing is null', () => {
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
  const value = { at: new Date(0), url: new URL('https://a.example/'), none: undefined, list: [, undefined] };
  expect(jsonResult(value, MAX)).toEqual({
    json: { at: '1970-01-01T00:00:00.000Z', url: 'https://a.example/', list: [null, null] },
  });
  expect(jsonResult(undefined, MAX)).toEqual({ json: null });
});

class Account {
  readonly id = 1;
}

const ring: Record<string, unknown> = {};
ring.self = ring;

test.each<[string, unknown, string]>([
  ['a BigInt', { n: 1n }, 'part "n" is a bigint'],
  ['NaN', [Number.NaN], 'is NaN'],
  ['Infinity', Number.POSITIVE_INFINITY, 'it is Infinity'],
  ['a function', () => 1, 'it is a function'],
  ['a symbol', { a: Symbol('x') }, 'a symbol'],
  ['a Map', new Map(), 'a Map'],
  ['an Error', { e: new Error('x') }, 'an Error'],
  ['an object of a class', new Account(), 'an Account'],
  ['a promise nobody waited for', { p: Promise.resolve() }, 'a Promise'],
  ['a ring', ring, 'holds itself'],
  ['a buffer', { body: Buffer.alloc(10) }, 'binary data'],
  ['a nest without end', Array.from({ length: 200 }).reduce<unknown>((inner) => [inner], 0), '100 levels'],
  [
    'a getter that throws',
    {
      get a() {
        throw new Error('no');
      },
    },
    'cannot be read: no',
  ],
])('%s is no result, and the reason says where', (_what, value, problem) => {
  expect(jsonResult(value, MAX)).toEqual({ problem: expect.stringContaining(problem) });
});

test('the same object twice is no ring', () => {
  const shared = { a: 1 };
  expect(jsonResult([shared, shared], MAX)).toEqual({ json: [{ a: 1 }, { a: 1 }] });
});

test('100 MB, a billion holes and a text that doubles forever are given up early', () => {
  const doubling = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, inner], 'x');
  const huge = [
    'x'.repeat(100_000_000),
    { deep: ['é'.repeat(50_000_000)] },
    Buffer.alloc(100_000_000),
    new Array(1e9),
    doubling,
  ];
  const before = performance.now();
  for (const value of huge) expect(jsonResult(value, MAX)).toHaveProperty('problem');
  expect(performance.now() - before).toBeLessThan(2_000);
});

test('a key that would change the prototype stays a key', () => {
  const given: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}');
  const result = jsonResult(given, MAX);
  expect(JSON.stringify(result)).toBe('{"json":{"__proto__":{"isAdmin":true}}}');
  expect('json' in result && Object.getPrototypeOf(result.json)).toBe(Object.prototype);
});
