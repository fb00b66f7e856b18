import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainJsonCopy } from './json-copy.ts';

const throughText = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null') as unknown;

describe('plainJsonCopy', () => {
  it('equals the round trip through JSON text whenever it gives a copy', () => {
    const anything = fc.anything({
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
      withTypedArray: true,
      withMap: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const copy = plainJsonCopy(value);
        if (copy !== undefined) expect(copy).toStrictEqual(throughText(value));
      }),
      { numRuns: 2000 },
    );
  });

  it('copies every small JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const parsed = throughText(value);
        fc.pre(!JSON.stringify(parsed).includes('"__proto__"') && JSON.stringify(value) === JSON.stringify(parsed));
        expect(plainJsonCopy(parsed)).toStrictEqual(parsed);
      }),
    );
  });

  it('shares nothing with what it copied', () => {
    const item = { n: 1 };
    const copy = plainJsonCopy({ list: [item] });
    item.n = 2;
    expect(copy).toEqual({ list: [{ n: 1 }] });
  });

  it.each([
    ['undefined in an object', { a: undefined }],
    ['a hole', Object.assign(new Array(3), { 0: 1, 2: 3 })],
    ['NaN', { n: Number.NaN }],
    ['a negative zero', [-0]],
    ['a date', { at: new Date(0) }],
    ['a function called toJSON', { toJSON: () => 1 }],
    ['a list with toJSON', Object.assign([1], { toJSON: () => 1 })],
    [
      'a class',
      new (class Point {
        readonly x = 1;
      })(),
    ],
    ['a key that would change the prototype', JSON.parse('{"__proto__":1}')],
    ['a large text', 'x'.repeat(20_000)],
    ['many small texts', Array.from({ length: 20_000 }, () => 'x')],
    ['what nests deeply', JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)],
  ])('leaves %s to the long way', (_, value) => {
    expect(plainJsonCopy(value)).toBeUndefined();
  });
});
