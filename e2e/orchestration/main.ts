/**
 * `npm run e2e:orchestration`: cancels trees of runs at random rows, then checks that each tree ended completely and in
 * time.
 */
import { campaignCommand } from '../campaign-command.ts';
import { cancelCampaign } from './cancel-campaign.ts';

const usage = `Cancels the root of a tree of 40 runs on three levels, at a random row of it, again and again. Afterwards every
run of every tree must have ended within 5 s of its cancellation, with nothing after its end and a valid hash chain.

  npm run e2e:orchestration -- [options]

  --points N   how many trees to cancel (default 100)
  --seed S     decides the rows (default: fresh, printed)
  --store S    sqlite (default), or postgres: a real server of its own
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(the data folder is kept and named), 2 for wrong usage. The seed repeats the rows, not the timing of the machine.
`;

// Not `exitCode`: the package of the Postgres server ends a process that is done with 0.
process.exit(
  await campaignCommand({
    usage,
    hasStores: true,
    option: 'points',
    usually: 100,
    run: ({ times, ...options }) => cancelCampaign({ points: times, ...options }),
  }),
);
