/** The crash campaign in small: five kills in the test command; `npm run e2e:crash` does fifty and more. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { campaign } from './campaign.ts';

const seed = randomUUID().slice(0, 8);

// About eight seconds; the limit is for machines that do much else at the same time, where it may take another campaign
// until a kill meets a stream that has begun.
test(`five kills lose nothing that was acknowledged (npm run e2e:crash -- --kills 5 --seed ${seed})`, async () => {
  let resumed = 0;
  for (let again = 0; again < 3 && resumed === 0; again++) {
    const report = await campaign({
      kills: 5,
      seed: again === 0 ? seed : `${seed}-${again}`,
      patrons: 8,
      endWithinMs: 20_000,
    });
    expect(report.breaches).toEqual([]);
    expect(report.audited).toMatchObject({ runs: report.runs, rows: report.events });
    resumed = report.resumed;
  }
  expect(resumed).toBeGreaterThan(0);
}, 120_000);
