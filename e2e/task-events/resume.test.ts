/** The kills in small: three in the test command; `npm run e2e:task-events` does twenty and more. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { killCampaign } from './kill.ts';

const seed = randomUUID().slice(0, 8);

test(`a client that resumes with its last id after each of three kills sees every event once (npm run e2e:task-events -- --kills 3 --seed ${seed})`, async () => {
  const report = await killCampaign({ kills: 3, seed });
  expect(report.breaches).toEqual([]);
  expect(Object.values(report.kills).reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(report.events).toBeGreaterThan(100);
  // One of them while a client executes a tool.
  expect(report.kills['input-required']).toBeGreaterThanOrEqual(1);
}, 90_000);
