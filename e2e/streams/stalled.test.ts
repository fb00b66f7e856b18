import { expect, test } from 'vitest';
import { stalledCampaign } from './stalled.ts';

const MEGABYTE = 1_048_576;

// `npm run e2e:streams` does the same with 200,000 events and prints what it took.
test('beside a reader that stalls another gets everything, the host does not grow, and the first is complete once it wakes', async () => {
  const events = 40_000;
  const { early, late, asleep, awake } = await stalledCampaign(events);
  // Of some 12 MB that wait for it, it was sent what the sockets took.
  expect(asleep).toBeLessThan(events / 2);
  expect(awake).toBeGreaterThanOrEqual(events);
  // Three quarters of the events came between the two: to hold them would take 20 MB and more.
  expect(late - early).toBeLessThan(8 * MEGABYTE);
});
