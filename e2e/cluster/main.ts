/** `npm run e2e:cluster`: three nodes on one Postgres under load and faults, then a check of the whole history. */
import { campaignCommand } from '../campaign-command.ts';
import { clusterCampaign } from './campaign.ts';

const usage = `Runs three nodes on one Postgres behind a round-robin proxy. Kills nodes (SIGKILL), pauses them past their lease,
restarts them and the database, while clients start at least 500 runs with agents, tools and questions, and follow
them on at least 200 further streams. Afterwards a checker reads the log of every run.

  npm run e2e:cluster -- [options]

  --faults N   how many faults (default 60)
  --seed S     decides the faults, the runs and the pauses (default: fresh, printed)
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(its data folder is kept and named), 2 for wrong usage. The seed repeats the choices, not the timing of the machine.
`;

// Not `exitCode`: the package of the Postgres server ends a process that is done with 0.
process.exit(
  await campaignCommand({
    usage,
    option: 'faults',
    usually: 60,
    run: ({ times, ...options }) => clusterCampaign({ faults: times, runs: 500, streams: 200, ...options }),
  }),
);
