import { expect, test } from 'vitest';
import { createRandom, type Random } from './random.ts';

const draws = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.below(1000));

test('draws the same values from the same seed', () => {
  expect(draws(createRandom(7), 50)).toEqual(draws(createRandom(7), 50));
});

test('draws different values from neighbouring seeds', () => {
  const first = new Set(Array.from({ length: 200 }, (_, seed) => createRandom(seed).below(1_000_000)));
  expect(first.size).toBeGreaterThan(195);
});

test('keeps every draw inside its bounds and reaches both ends', () => {
  const random = createRandom(3);
  const seen = new Set(Array.from({ length: 500 }, () => random.between(2, 5)));
  expect([...seen].sort()).toEqual([2, 3, 4, 5]);
});

test('takes chances about as often as it says', () => {
  const random = createRandom(11);
  const hits = Array.from({ length: 4000 }, () => random.chance(0.25)).filter(Boolean).length;
  expect(hits).toBeGreaterThan(900);
  expect(hits).toBeLessThan(1100);
});

test('never picks a key without weight, and none when there is no weight at all', () => {
  const random = createRandom(5);
  const picked = Array.from({ length: 300 }, () => random.weighted({ a: 1, b: 0, c: 3 }));
  expect(new Set(picked)).toEqual(new Set(['a', 'c']));
  expect(picked.filter((key) => key === 'c').length).toBeGreaterThan(180);
  expect(random.weighted({ a: 0 })).toBeNull();
});

test('forks into streams that do not follow each other', () => {
  const random = createRandom(9);
  expect(draws(random.fork('a'), 20)).not.toEqual(draws(random.fork('a'), 20));
});
