import { expect, it } from 'vitest';
import { OwnRanges } from './own-ranges.ts';

it('covers what batches wrote in turns, once the gaps between them are filled', () => {
  const own = new OwnRanges();
  own.add([1, 2, 5, 6]);
  expect(own.endAfter(0)).toBe(2);
  own.add([7, 8]);
  own.add([3]);
  expect(own.endAfter(0)).toBe(3);
  expect(own.endAfter(4)).toBe(8);
  own.add([4]);
  expect(own.endAfter(0)).toBe(8);
  expect(own.endAfter(8)).toBe(8);
});

it('stops before rows of others, and forgets what was told', () => {
  const own = new OwnRanges();
  own.add([10, 11, 13]);
  expect(own.endAfter(8)).toBe(8);
  expect(own.endAfter(9)).toBe(11);
  own.forget(11);
  expect(own.endAfter(9)).toBe(9);
  expect(own.endAfter(12)).toBe(13);
});
