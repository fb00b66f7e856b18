/** `npm run e2e:agents`: kills a host while agents work, then checks that no recorded action happened twice. */
import { campaignCommand } from '../campaign-command.ts';
import { crewCampaign } from './campaign.ts';

const usage = `Kills a host with SIGKILL at random rows of research-crew runs. A model and tools outside of it count what
is asked of them; afterwards nothing whose result is recorded may have happened twice.

  npm run e2e:agents -- [options]

  --kills N    how often to kill it (default 30)
  --seed S     decides the rows, the answers and the pauses (default: fresh, printed)
  --store S    sqlite (default), or postgres: a real server of its own
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(its data folder is kept and named), 2 for wrong usage. The seed repeats the choices, not the timing of the machine.
`;

// Not `exitCode`: the package of the Postgres server ends a process that is done with 0.
process.exit(
  await campaignCommand({
    usage,
    hasStores: true,
    option: 'kills',
    usually: 30,
    run: ({ times, ...options }) => crewCampaign({ kills: times, ...options }),
  }),
);
