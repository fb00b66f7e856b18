import { expect, test } from 'vitest';
import { stalledCampaign, taskView } from '../streams/stalled.ts';

const MEGABYTE = 1_048_576;

/** `npm run e2e:task-events` does 200,000, with bounds of time. */
const events = 60_000;

test('beside a stalled reader of a context another gets every event, the host does not grow, and the first gets all once it wakes', async () => {
  const { early, late, asleep, awake } = await stalledCampaign(events, taskView);
  // Of some 20 MB that wait for it, it was sent what the sockets took.
  expect(asleep).toBeLessThan(events / 2);
  expect(awake).toBeGreaterThanOrEqual(events);
  // Three quarters of the events came between the two: to hold them would take 15 MB and more.
  expect(late - early).toBeLessThan(8 * MEGABYTE);
}, 60_000);
