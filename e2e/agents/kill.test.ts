/** The kills in small: three in the test command; `npm run e2e:agents` does thirty and more. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { crewCampaign } from './campaign.ts';

const seed = randomUUID().slice(0, 8);

test(`three kills in the work of a crew, and nothing that is recorded happens twice (npm run e2e:agents -- --kills 3 --seed ${seed})`, async () => {
  const report = await crewCampaign({ kills: 3, seed, endWithinMs: 60_000 });
  expect(report.breaches).toEqual([]);
  expect(report.modelRequests).toBeGreaterThan(0);
  expect(report.toolEntries).toBeGreaterThan(0);
}, 90_000);
