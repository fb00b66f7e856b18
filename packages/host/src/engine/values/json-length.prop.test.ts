import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exceedsJson } from './json-length.ts';

test('a value that fits is never too long', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(exceedsJson(value, JSON.stringify(value).length)).toBe(false);
    }),
  );
});

test('a value of plain texts is too long exactly beyond its length', () => {
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'c') });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      plain,
      fc.array(tie('tree'), { minLength: 1 }),
      fc.dictionary(plain, tie('tree'), { minKeys: 1 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const { length } = JSON.stringify(value);
      expect([exceedsJson(value, length), exceedsJson(value, length - 1)]).toEqual([false, true]);
    }),
  );
});

test('members that JSON leaves out do not count', () => {
  expect(exceedsJson({ long: undefined }, 2)).toBe(false);
});

test('what is beyond the limit is not looked at', () => {
  let looked = 0;
  const items = Array.from({ length: 1_000 }, () => ({
    get text() {
      looked += 1;
      return 'x'.repeat(1_000);
    },
  }));
  expect(exceedsJson(items, 10_000)).toBe(true);
  expect(looked).toBeLessThan(12);
});
