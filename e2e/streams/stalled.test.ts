import { expect, test } from 'vitest';
import { stalledCampaign } from './stalled.ts';

const MEGABYTE = 1_048_576;

const events = 200_000;

test('beside a reader that stalls another gets everything, the host does not grow, and the first is complete once it wakes', async () => {
  const { early, late, asleep, awake } = await stalledCampaign(events);
  // Of some 60 MB that wait for it, it was sent what the sockets took.
  expect(asleep).toBeLessThan(events / 10);
  expect(awake).toBeGreaterThanOrEqual(events);
  // Three quarters of the events came between the two: to hold them would take 45 MB and more.
  expect(late - early).toBeLessThan(8 * MEGABYTE);
}, 120_000);
