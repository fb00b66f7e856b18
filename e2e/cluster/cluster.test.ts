import { expect, test } from 'vitest';
import { clusterCampaign } from './campaign.ts';

test('three nodes on one Postgres keep every promise through a kill, a pause, a restart and a restart of the database', async () => {
  const report = await clusterCampaign({ faults: 4, seed: 'smoke', runs: 8, streams: 2, patrons: 3 });
  expect(report.breaches).toEqual([]);
  expect(report).toMatchObject({ faults: { kill: 1, pause: 1, restart: 1, database: 1 } });
  expect(report.answeredByNode.length).toBeGreaterThan(1);
}, 120_000);
