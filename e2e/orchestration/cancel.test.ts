/** The cancellations in small: five in the test command; `npm run e2e:orchestration` does a hundred and more. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { cancelCampaign } from './cancel-campaign.ts';
import { TREE_RUNS } from './tree-workflows.ts';

const seed = randomUUID().slice(0, 8);

test(`five trees of forty runs, each cancelled at a random row, end as a whole and in time (npm run e2e:orchestration -- --points 5 --seed ${seed})`, async () => {
  const report = await cancelCampaign({ points: 5, seed });
  expect(report.breaches).toEqual([]);
  expect(report.runsAtCancel.most).toBeLessThanOrEqual(TREE_RUNS);
  expect(report.rowsAtRest).toBeGreaterThan(5 * TREE_RUNS);
}, 90_000);
