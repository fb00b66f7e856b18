/** `npm run e2e:task-events`: the proofs about task events at full size. Exits with 1 when one fails. */
import { campaignCommand } from '../campaign-command.ts';
import { killCampaign } from './kill.ts';
import { stalledTasks } from './stalled.ts';

const usage = `Kills a host with SIGKILL at random events of conversations, and resumes with the last id: no gap, no repeat, the
same final state. Then one reader of a context stalls beside a fast one, while 200,000 task events come.

  npm run e2e:task-events -- [options]

  --kills N    how often to kill it (default 20)
  --seed S     decides the events and the pauses (default: fresh, printed)
  --store S    sqlite (default), or postgres: a real server of its own
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(its data folder is kept and named), 2 for wrong usage. The seed repeats the choices, not the timing of the machine.
`;

const EVENTS = 200_000;

// Not `exitCode`: the package of the Postgres server ends a process that is done with 0.
process.exit(
  await campaignCommand({
    usage,
    hasStores: true,
    option: 'kills',
    usually: 20,
    run: async ({ times, ...options }) => {
      const killed = await killCampaign({ kills: times, ...options });
      options.progress(`${killed.events} events over ${times} kills; now ${EVENTS} events beside a stalled reader`);
      const { breaches, ...stalled } = await stalledTasks(EVENTS);
      return { ...killed, stalled, breaches: [...killed.breaches, ...breaches] };
    },
  }),
);
