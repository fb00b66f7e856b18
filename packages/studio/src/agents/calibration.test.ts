import { expect, test } from 'vitest';
import { bucketsOf } from './calibration.ts';

const tally = { stated: 4, held: 3, approved: 2, edited: 0, rejected: 1, expired: 0 };

test('the share of a bucket is that of its verdicts, and nothing without one', () => {
  const none = { ...tally, held: 0, approved: 0, rejected: 0 };
  const found = bucketsOf({
    agentId: 'a',
    ...tally,
    buckets: [
      { from: 0.5, to: 0.6, ...tally },
      { from: 0.9, to: 1, ...none },
    ],
  });
  expect(found).toEqual([
    { from: 0.5, to: 0.6, stated: 4, verdicts: 3, right: 2 / 3 },
    { from: 0.9, to: 1, stated: 4, verdicts: 0, right: null },
  ]);
});
