/** The crash campaign in small: five kills in the test command; `npm run e2e:crash` does fifty and more. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { campaign } from './campaign.ts';

const seed = randomUUID().slice(0, 8);

// About eight seconds; the limit is for machines that do much else at the same time.
test(`five kills lose nothing that was acknowledged (npm run e2e:crash -- --kills 5 --seed ${seed})`, async () => {
  const report = await campaign({ kills: 5, seed, patrons: 8, endWithinMs: 20_000 });
  expect(report.breaches).toEqual([]);
  expect(report.resumed).toBeGreaterThan(0);
  expect(report.audited).toMatchObject({ runs: report.runs, rows: report.events });
}, 60_000);
