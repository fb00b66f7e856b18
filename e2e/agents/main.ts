/** `npm run e2e:agents`: kills a host in the middle of agents' work, then checks that nothing recorded happened twice. */
import { parseArgs } from 'node:util';
import { crewCampaign } from './campaign.ts';

const usage = `Kills a host with SIGKILL at random rows of research-crew runs. A model and tools outside of it count what
is asked of them; afterwards nothing whose result is recorded may have happened twice.

  npm run e2e:agents -- [options]

  --kills N    how often to kill it (default 30)
  --seed S     decides the rows, the answers and the pauses (default: fresh, printed)
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(its data folder is kept and named), 2 for wrong usage. The seed repeats the choices, not the timing of the machine.
`;

async function main(): Promise<number> {
  let kills: number;
  let seed: string;
  try {
    const options = {
      kills: { type: 'string', default: '30' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    const { values } = parseArgs({ options });
    if (values.help === true) {
      process.stdout.write(usage);
      return 0;
    }
    kills = Number(values.kills);
    if (!Number.isInteger(kills) || kills < 1)
      throw new TypeError(`--kills takes a whole number from 1, not "${values.kills}".`);
    seed = values.seed ?? crypto.randomUUID().slice(0, 8);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  process.stderr.write(`seed ${seed}\n`);
  const report = await crewCampaign({ kills, seed, progress: (text) => process.stderr.write(`${text}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.breaches.length === 0) return 0;
  process.stderr.write(`${report.breaches.length} promises broken; the data is in ${report.folder}\n`);
  return 1;
}

process.exitCode = await main();
