/**
 * Compares the logs that two checkouts write: the simulation seed by seed, the published fixtures and the demo packs.
 */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Recorded } from './normalise.ts';

const help = `npm run e2e:compare -- --against FOLDER [options]

Runs this checkout and another one side by side and compares their logs row by row. Rows of the simulation are compared
by their hashes, byte for byte; rows of real hosts after ids, instants and durations are taken out. The other checkout
needs its node_modules, and both need the OpenWOP fixtures beside them.

  --against FOLDER   the other checkout
  --seeds N          seeds of the simulation, from 1 (default 1000)
  --parts LIST       seeds,scenarios,packs (default all)
  --json             print one line of JSON instead of text
  --help             this page

Exit code: 0 when all logs are equal, 1 when one differs, 2 for wrong usage.
`;

interface Difference {
  readonly name: string;
  readonly line: number;
  readonly here: string | null;
  readonly there: string | null;
}

interface Comparison {
  compared: number;
  rows: number;
  readonly differences: Difference[];
}

const usage = (message: string): never => {
  process.stderr.write(`${message}\n\n${help}`);
  process.exit(2);
};

function readArguments() {
  try {
    return parseArgs({
      options: {
        against: { type: 'string' },
        seeds: { type: 'string', default: '1000' },
        parts: { type: 'string', default: 'seeds,scenarios,packs' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return usage(String(error));
  }
}

/** Streams the recording of one checkout line by line. A failing recorder is an error, not an end of the stream. */
async function* recording(checkout: string, part: string, seeds: number): AsyncGenerator<Recorded> {
  const range = part === 'seeds' ? ['1', String(seeds)] : [];
  const args = [
    '--conditions=@cairn/source',
    fileURLToPath(new URL('./record.ts', import.meta.url)),
    checkout,
    part,
    ...range,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((done) => child.on('close', done));
  try {
    for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
    const code = await ended;
    if (code !== 0) throw new Error(`Recording ${part} of ${checkout} ended with ${code}.`);
  } finally {
    child.kill();
  }
}

function firstDifference(here: Recorded, there: Recorded): Difference | null {
  if (here.name !== there.name) return { name: here.name, line: 0, here: here.name, there: there.name };
  const length = Math.max(here.lines.length, there.lines.length);
  for (let line = 0; line < length; line += 1) {
    const [ours, theirs] = [here.lines[line] ?? null, there.lines[line] ?? null];
    if (ours !== theirs) return { name: here.name, line, here: ours, there: theirs };
  }
  return null;
}

async function compare(part: string, folders: readonly [string, string], seeds: number): Promise<Comparison> {
  const comparison: Comparison = { compared: 0, rows: 0, differences: [] };
  const theirs = recording(folders[1], part, seeds);
  for await (const here of recording(folders[0], part, seeds)) {
    const there = await theirs.next();
    const difference = there.done
      ? { name: here.name, line: 0, here: here.name, there: null }
      : firstDifference(here, there.value);
    if (difference !== null) comparison.differences.push(difference);
    comparison.compared += 1;
    comparison.rows += here.lines.length;
    if (comparison.compared % 100 === 0) process.stderr.write(`${part}: ${comparison.compared} compared\n`);
  }
  const rest = await theirs.next();
  if (!rest.done) comparison.differences.push({ name: rest.value.name, line: 0, here: null, there: rest.value.name });
  return comparison;
}

/** Shows both lines from where they diverge, so that a long payload shows the difference and not its beginning. */
function render({ name, line, here, there }: Difference): string {
  const [ours, theirs] = [here ?? '(no row)', there ?? '(no row)'];
  let at = 0;
  while (at < Math.min(ours.length, theirs.length) && ours[at] === theirs[at]) at += 1;
  const from = Math.max(0, at - 100);
  return `${name}, row ${line}\n  here   ${ours.slice(from, at + 100)}\n  there  ${theirs.slice(from, at + 100)}`;
}

async function main(): Promise<void> {
  const args = readArguments();
  if (args.help) {
    process.stdout.write(help);
    return;
  }
  const seeds = Number(args.seeds);
  if (!Number.isSafeInteger(seeds) || seeds < 1) usage(`--seeds takes a whole number from 1, not ${args.seeds}.`);
  const folders = [
    join(import.meta.dirname, '../..'),
    resolve(args.against ?? usage('Give --against FOLDER.')),
  ] as const;
  const results: Record<string, Comparison> = {};
  for (const part of args.parts.split(',')) {
    if (!['seeds', 'scenarios', 'packs'].includes(part)) usage(`There is no part "${part}".`);
    const result = await compare(part, folders, seeds);
    results[part] = result;
    const verdict = result.differences.length === 0 ? 'all equal' : `${result.differences.length} differ`;
    if (!args.json) process.stdout.write(`${part}: ${result.compared} logs, ${result.rows} rows: ${verdict}\n`);
    for (const difference of result.differences.slice(0, 20)) process.stderr.write(`${render(difference)}\n`);
  }
  if (args.json) process.stdout.write(`${JSON.stringify(results)}\n`);
  process.exitCode = Object.values(results).some(({ differences }) => differences.length > 0) ? 1 : 0;
}

await main();
