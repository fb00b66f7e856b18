/** `npm run e2e:orchestration`: cancels trees of runs at random rows, then checks that each ended as a whole, in time. */
import { parseArgs } from 'node:util';
import { cancelCampaign } from './cancel-campaign.ts';

const usage = `Cancels the root of a tree of 40 runs on three levels, at a random row of it, again and again. Afterwards every
run of every tree must have ended within 5 s of its cancellation, with nothing after its end and a valid hash chain.

  npm run e2e:orchestration -- [options]

  --points N   how many trees to cancel (default 100)
  --seed S     decides the rows (default: fresh, printed)
  --help       this text

Progress goes to stderr, the report as JSON to stdout. Exit code: 0 when every promise was kept, 1 when one was broken
(the data folder is kept and named), 2 for wrong usage. The seed repeats the rows, not the timing of the machine.
`;

async function main(): Promise<number> {
  let points: number;
  let seed: string;
  try {
    const options = {
      points: { type: 'string', default: '100' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    const { values } = parseArgs({ options });
    if (values.help === true) {
      process.stdout.write(usage);
      return 0;
    }
    points = Number(values.points);
    if (!Number.isInteger(points) || points < 1) {
      throw new TypeError(`--points takes a whole number from 1, not "${values.points}".`);
    }
    seed = values.seed ?? crypto.randomUUID().slice(0, 8);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  process.stderr.write(`seed ${seed}\n`);
  const report = await cancelCampaign({ points, seed, progress: (text) => process.stderr.write(`${text}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.breaches.length === 0) return 0;
  process.stderr.write(`${report.breaches.length} promises broken; the data is in ${report.folder}\n`);
  return 1;
}

process.exitCode = await main();
