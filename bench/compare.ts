/** `npm run bench:compare`: measures this checkout and another one alternately, and reports which figures got worse. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './statistics.ts';

const help = `npm run bench:compare -- --against FOLDER [options] [name...]

Runs the benchmarks of this checkout and of another one in turns and compares their medians. Where a figure's target is
a ratio to its baseline, ratios are compared; otherwise values. Ends with 1 when a median is worse by more than the bound.

  --against FOLDER   the other checkout, with its node_modules
  --rounds N         turns of each checkout (default 3)
  --within PERCENT   the bound (default 3)
  --quick            short rounds: shows that it works, not what it reaches
  --json             print one line of JSON for each figure instead of a table
  name               groups or figures, as in npm run bench; without one, everything
`;

interface Line {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio: number;
  readonly bar: string;
}

interface Change {
  readonly name: string;
  readonly what: 'ratio' | 'value';
  readonly here: number;
  readonly there: number;
  /** Positive is better. */
  readonly percent: number;
  readonly rounds: number;
}

async function measured(checkout: string, args: readonly string[]): Promise<readonly Line[]> {
  const node = ['--conditions=@cairn/source', '--expose-gc', join(checkout, 'bench/main.ts'), '--json', ...args];
  const child = spawn(process.execPath, node, { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // Exit code 1 means that a figure missed its own target, which does not matter here.
  const code = await new Promise<number | null>((done) => child.on('close', done));
  if (code !== 0 && code !== 1) throw new Error(`The benchmarks of ${checkout} ended with ${code}.`);
  return said.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** A target such as "ratio >= 0.5" defines what is compared and which direction is better. */
function changeOf(name: string, here: readonly Line[], there: readonly Line[]): Change {
  const bar = here[0]?.bar ?? '';
  const what = bar.startsWith('ratio') ? 'ratio' : 'value';
  const isMoreBetter = bar.includes('>');
  const ours = median(here.map((line) => line[what]));
  const theirs = median(there.map((line) => line[what]));
  const percent = ((ours - theirs) / theirs) * 100 * (isMoreBetter ? 1 : -1);
  return { name, what, here: ours, there: theirs, percent: Math.round(percent * 10) / 10, rounds: here.length };
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      against: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      within: { type: 'string', default: '3' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [rounds, within] = [Number(values.rounds), Number(values.within)];
  if (values.help || values.against === undefined || !(rounds >= 1) || !(within >= 0)) {
    (values.help ? process.stdout : process.stderr).write(help);
    return values.help ? 0 : 2;
  }
  const [ours, theirs] = [join(import.meta.dirname, '..'), resolve(values.against)];
  const args = [...positionals, ...(values.quick ? ['--quick'] : [])];
  const here: Line[] = [];
  const there: Line[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, so that a machine that slows down affects both checkouts equally.
    for (const isOurs of round % 2 === 0 ? [false, true] : [true, false]) {
      process.stderr.write(`round ${round + 1} of ${rounds}: ${isOurs ? 'this checkout' : 'the other one'}\n`);
      (isOurs ? here : there).push(...(await measured(isOurs ? ours : theirs, args)));
    }
  }
  const names = [...new Set(here.map(({ name }) => name))].filter((name) => there.some((line) => line.name === name));
  const named = (lines: readonly Line[], name: string) => lines.filter((line) => line.name === name);
  const changes = names.map((name) => changeOf(name, named(here, name), named(there, name)));
  for (const change of changes)
    process.stdout.write(values.json ? `${JSON.stringify(change)}\n` : render(change, within));
  return changes.some(({ percent }) => percent < -within) ? 1 : 0;
}

const render = ({ name, what, here, there, percent }: Change, within: number): string =>
  `${percent < -within ? 'WORSE' : 'ok   '} ${name.padEnd(24)} ${what.padEnd(5)} ${String(there).padStart(10)} -> ${String(here).padStart(10)}  ${percent > 0 ? '+' : ''}${percent} %\n`;

process.exitCode = await main();
