/** `npm run e2e:crash`: kills a host under load repeatedly, then checks every guarantee. */
import { parseArgs } from 'node:util';
import { type StoreKind, storeKind } from '../campaign-store.ts';
import { campaign } from './campaign.ts';

const usage = `Kills a working host with SIGKILL again and again, then checks that nothing it acknowledged was lost.

  npm run e2e:crash -- [options]

  --kills N    how often to kill it (default 50)
  --seed S     decides workflows, answers and the moments of the kills (default: fresh, printed)
  --store S    sqlite (default), or postgres: a real server of its own
  --json       print the report as one line of JSON on stdout
  --help       this text

Progress goes to stderr. Exit code: 0 when every promise was kept, 1 when one was broken (its data folder is kept and
named), 2 for wrong usage, 130 after Ctrl-C. The seed repeats the choices, not the timing of the machine.
See docs/crash-testing.md.
`;

interface Options {
  readonly kills: number;
  readonly seed: string;
  readonly store: StoreKind;
  readonly json: boolean;
}

function parse(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '50' },
      seed: { type: 'string' },
      store: { type: 'string', default: 'sqlite' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const kills = Number(values.kills);
  if (!Number.isInteger(kills) || kills < 1)
    throw new TypeError(`--kills takes a whole number from 1, not "${values.kills}".`);
  const store = storeKind(values.store);
  return { kills, store, seed: values.seed ?? crypto.randomUUID().slice(0, 8), json: values.json };
}

async function main(): Promise<number> {
  let options: Options | 'help';
  try {
    options = parse(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.stderr.write(`seed ${options.seed}\n`);
  try {
    const { json, ...rest } = options;
    const report = await campaign({
      ...rest,
      signal: interrupted.signal,
      progress: (text) => process.stderr.write(`${text}\n`),
    });
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${JSON.stringify(report, null, 2)}\n`);
    if (report.breaches.length === 0) return 0;
    process.stderr.write(`${report.breaches.length} promises broken; the data is in ${report.folder}\n`);
    return 1;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    throw error;
  }
}

// Not `exitCode`: the package of the Postgres server ends a process that is done with 0.
process.exit(await main());
