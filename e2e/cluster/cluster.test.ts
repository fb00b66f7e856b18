import { expect, test } from 'vitest';
import { clusterCampaign } from './campaign.ts';

test('three nodes on one Postgres keep every promise through a kill and a pause', async () => {
  const report = await clusterCampaign({ faults: 2, seed: 'smoke', runs: 4, streams: 1, patrons: 2 });
  expect(report.breaches).toEqual([]);
  expect(report).toMatchObject({ faults: { kill: 1, pause: 1 } });
  expect(report.answeredByNode.length).toBeGreaterThan(1);
}, 120_000);
