import { expect, test } from 'vitest';
import { scrollTo, WIDTH, xOf } from './cause-places.ts';

const widths = [320, 400, 641, 900, 1280, 1920];
const cases = widths.flatMap((width) =>
  [0, 1, 2, 5, 23].flatMap((column) => [true, false].map((hasEffects) => ({ width, column, hasEffects }))),
);

test.each(cases)('the first box is whole and off the edge, and the selection in view: %o', (shown) => {
  const left = scrollTo(shown);
  const offsets = Array.from({ length: shown.column + 1 }, (_, column) => xOf(column) - left);
  expect(offsets.find((offset) => offset + WIDTH > 0)).toBe(xOf(0));
  expect((offsets.at(-1) ?? 0) + WIDTH).toBeLessThanOrEqual(shown.width);
});

test('as many causes as fit are shown', () => {
  expect(scrollTo({ width: 1280, column: 3, hasEffects: true })).toBe(0);
  expect(scrollTo({ width: 1280, column: 23, hasEffects: false })).toBe(xOf(19) - xOf(0));
});
