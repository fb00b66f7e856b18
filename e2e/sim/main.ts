/** The simulation from the command line: inspects one seed, or searches many for a failure. */
import { parseArgs } from 'node:util';
import { addCoverage, type Coverage, newCoverage } from './coverage.ts';
import { renderBreach } from './render.ts';
import { simulate } from './world.ts';

const help = `npm run sim -- [options]

Runs the engine and the log in a simulated world: two nodes, one store, faults, crashes, clients.
The seed decides everything; the same seed gives the same trace, bit for bit.

  --seed S        one seed
  --seeds A..B    all seeds from A to B; stops at the first that breaks a promise
  --steps N       steps of each seed before the world becomes kind (default 300)
  --trace         print every line of the trace to stderr
  --json          print one line of JSON to stdout instead of text
  --help          this page

Examples:
  npm run sim -- --seed 42 --trace
  npm run sim -- --seeds 1..20000 --json
`;

interface Summary {
  readonly from: number;
  readonly to: number;
  seeds: number;
  rows: number;
  runs: number;
  stopped: boolean;
  breach: { readonly seed: number; readonly step: number; readonly invariant: string } | null;
  /** Trace hash of the last seed, used to compare two runs of one seed. */
  trace: string;
  readonly coverage: Coverage;
}

const usage = (message: string): never => {
  process.stderr.write(`${message}\n\n${help}`);
  process.exit(2);
};

const wholeNumber = (text: string, name: string): number => {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : usage(`${name} must be a whole number, not ${text}.`);
};

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        steps: { type: 'string', default: '300' },
        trace: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}

function range(seed: string | undefined, seeds: string | undefined): readonly [number, number] {
  if (seeds === undefined) {
    const one = wholeNumber(seed ?? '1', '--seed');
    return [one, one];
  }
  const [from, to, ...more] = seeds.split('..');
  if (from === undefined || to === undefined || more.length > 0 || seed !== undefined)
    return usage('Give either --seed S or --seeds A..B.');
  return [wholeNumber(from, '--seeds'), wholeNumber(to, '--seeds')];
}

async function main(): Promise<void> {
  const args = readArguments();
  if (args.help) {
    process.stdout.write(help);
    return;
  }
  const [from, to] = range(args.seed, args.seeds);
  const steps = wholeNumber(args.steps, '--steps');
  const sink = args.trace ? (line: string) => void process.stderr.write(`${line}\n`) : undefined;
  const summary: Summary = {
    ...{ from, to, seeds: 0, rows: 0, runs: 0, stopped: false, breach: null, trace: '' },
    coverage: newCoverage(),
  };
  process.once('SIGINT', () => {
    summary.stopped = true;
  });
  for (let seed = from; seed <= to && !summary.stopped && summary.breach === null; seed += 1) {
    const result = await simulate({ seed, steps, sink });
    summary.seeds += 1;
    summary.rows += result.rows;
    summary.runs += result.runs;
    summary.trace = result.trace;
    addCoverage(summary.coverage, result.coverage);
    const broken = renderBreach(result, steps);
    if (broken !== null && result.breach !== null) {
      summary.breach = { seed, step: result.breach.step, invariant: result.breach.invariant };
      process.stderr.write(`${broken}\n`);
    }
    if (summary.seeds % 100 === 0)
      process.stderr.write(`${summary.seeds} of ${to - from + 1} seeds, ${summary.rows} rows\n`);
  }
  process.stdout.write(args.json ? `${JSON.stringify(summary)}\n` : renderSummary(summary));
  process.exitCode = summary.breach !== null ? 1 : summary.stopped ? 130 : 0;
}

function renderSummary({ seeds, runs, rows, trace, coverage, breach, from, to }: Summary): string {
  const counts = Object.entries(coverage).map(([name, count]) => `${String(count).padStart(9)}  ${name}`);
  const verdict = breach === null ? 'every promise was kept' : `seed ${breach.seed} broke: ${breach.invariant}`;
  const last = from === to ? `, trace ${trace}` : '';
  return `${seeds} seeds, ${runs} runs, ${rows} rows: ${verdict}${last}\n${counts.join('\n')}\n`;
}

await main();
