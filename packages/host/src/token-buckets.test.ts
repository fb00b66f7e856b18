import { expect, test } from 'vitest';
import { TokenBuckets } from './token-buckets.ts';

function clocked(perSecond: number, burst: number) {
  const clock = { at: 1_000_000 };
  return { clock, buckets: new TokenBuckets({ perSecond, burst, now: () => clock.at }) };
}

test('lets a burst through, then says how long until the next one', () => {
  const { buckets, clock } = clocked(2, 3);
  expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([0, 0, 0, 500]);
  clock.at += 499;
  expect(buckets.take('a')).toBe(1);
  clock.at += 1;
  expect([buckets.take('a'), buckets.take('a')]).toEqual([0, 500]);
});

test('counts every name for itself', () => {
  const { buckets } = clocked(1, 1);
  expect([buckets.take('a'), buckets.take('b'), buckets.take('a')]).toEqual([0, 0, 1000]);
});

test('never saves up more than the burst', () => {
  const { buckets, clock } = clocked(10, 2);
  buckets.take('a');
  clock.at += 3_600_000;
  expect([1, 2, 3].map(() => buckets.take('a'))).toEqual([0, 0, 100]);
});

test('a clock that is set back makes nobody wait longer than an empty bucket does', () => {
  const { buckets, clock } = clocked(1, 2);
  buckets.take('a');
  clock.at -= 500_000;
  expect(buckets.take('a')).toBe(1000);
  clock.at += 1000;
  expect(buckets.take('a')).toBe(0);
});

test('forgets full buckets before those in use, and keeps its memory bounded when all are in use', () => {
  const { buckets, clock } = clocked(1, 2);
  for (let i = 0; i < 9_999; i += 1) buckets.take(`idle-${i}`);
  clock.at += 5_000;
  for (let i = 0; i < 3; i += 1) buckets.take('busy');
  buckets.take('newcomer');
  expect(buckets.size).toBe(2);
  expect(buckets.take('busy')).toBeGreaterThan(0);
  for (let i = 0; i < 50_000; i += 1) buckets.take(`flood-${i}`);
  expect(buckets.size).toBeLessThanOrEqual(10_000);
});
