/** `npm run bench`: measures each figure beside its limit and prints one JSON line per figure to stdout. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isCairnError, TerminalError } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';
import { acrossGroup } from './across-figures.ts';
import { agentGroup } from './agent-figures.ts';
import { artifactGroup } from './artifact-figures.ts';
import { childrenGroup } from './children-figures.ts';
import { openFlushCounter } from './device-flushes.ts';
import { expressionGroup } from './expression-figures.ts';
import { fairnessGroup } from './fairness-figures.ts';
import { type FigureLine, figureLine } from './figure.ts';
import { forkGroup } from './fork-figures.ts';
import { listGroup } from './list-figures.ts';
import { logGroup } from './log-figures.ts';
import { longRunGroup } from './long-run-figures.ts';
import { jsonRate } from './machine-speed.ts';
import { readOptions, type StoreName } from './options.ts';
import type { Group, Plan } from './plan.ts';
import { postgresGroups } from './postgres/groups.ts';
import { replayGroup } from './replay-figures.ts';
import { runGroup } from './run-figures.ts';
import { streamGroup } from './stream-figures.ts';
import { studioGroup } from './studio-figures.ts';
import { suspendedGroup } from './suspended-figures.ts';
import { taskGroup } from './task-figures.ts';
import { wakingGroup } from './waking-figures.ts';

const sqliteGroups: readonly Group[] = [
  logGroup,
  runGroup,
  longRunGroup,
  forkGroup,
  artifactGroup,
  suspendedGroup,
  listGroup,
  wakingGroup,
  streamGroup,
  agentGroup,
  taskGroup,
  childrenGroup,
  fairnessGroup,
  acrossGroup,
  expressionGroup,
  replayGroup,
  studioGroup,
];

const groupsOf: Readonly<Record<StoreName, readonly Group[]>> = { sqlite: sqliteGroups, postgres: postgresGroups };

const listed = (groups: readonly Group[]): string =>
  groups
    .flatMap(({ name, about, figures }) => [
      `  ${name.padEnd(10)} ${about}`,
      ...figures.map((one) => `${' '.repeat(13)}${one}`),
    ])
    .join('\n');

const help = `npm run bench [-- name...] [--store sqlite|postgres] [--quick] [--json]

Measures what Cairn does beside what the machine allows, in the same run, and prints one JSON line
per figure on stdout; progress and a table go to stderr. Ends with 1 when a figure misses its bar.

  name      a group or a figure; without one, everything of the store
  --store   what keeps the log: sqlite (the default), or postgres, with nodes on a server of its own
  --quick   short rounds: shows that it works, not what it reaches
  --json    nothing but the JSON lines, and errors
  --help    this text

${listed(sqliteGroups)}

With --store postgres:

${listed(postgresGroups)}

Figures are only worth reading from a machine that does nothing else. See docs/benchmarks.md.
`;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(help);
    return 0;
  }
  const chosen = choose(groupsOf[options.store], options.names);
  const out = join(import.meta.dirname, 'out');
  mkdirSync(out, { recursive: true });
  const { quick, json } = options;
  const plan: Plan = {
    folder: mkdtempSync(join(out, 'data-')),
    flushes: openFlushCounter(out),
    quick,
    rounds: quick ? 1 : 3,
    progress: (text) => !json && process.stderr.write(`${text}\n`),
  };
  process.on('exit', () => rmSync(plan.folder, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  plan.progress(`data in ${plan.folder}, on ${plan.flushes.device}`);
  const lines = await measure(chosen, plan, await strangersNote(plan));
  if (!json) process.stderr.write(table(lines));
  return lines.every((line) => line.pass) ? 0 : 1;
}

/** Selects the groups to run, each with the figures to print. */
function choose(
  groups: readonly Group[],
  names: readonly string[],
): readonly { readonly group: Group; readonly figures: readonly string[] }[] {
  const known = groups.flatMap((group) => [group.name, ...group.figures]);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TerminalError('config_invalid', {
      message: `There is no figure or group named ${unknown}.`,
      hint: `Choose from: ${known.join(', ')}.`,
    });
  }
  return groups
    .map((group) => ({
      group,
      figures: group.figures.filter((name) => names.length === 0 || names.includes(group.name) || names.includes(name)),
    }))
    .filter(({ figures }) => figures.length > 0);
}

/** A figure, and how fast the machine was just before. */
interface MeasuredLine extends FigureLine {
  readonly jsonPerMs: number;
}

async function measure(
  chosen: ReturnType<typeof choose>,
  plan: Plan,
  strangers: readonly string[],
): Promise<readonly MeasuredLine[]> {
  const lines: MeasuredLine[] = [];
  for (const { group, figures } of chosen) {
    const jsonPerMs = jsonRate();
    plan.progress(`${group.name}: ${group.about} (this machine: ${jsonPerMs} JSON events/ms)`);
    for (const figure of await group.run(plan, figures)) {
      if (!figures.includes(figure.name)) continue;
      const notes = [...(figure.notes ?? []), ...(figure.durability === undefined ? [] : strangers)];
      const line = { ...figureLine({ ...figure, notes }), jsonPerMs };
      process.stdout.write(`${JSON.stringify(line)}\n`);
      lines.push(line);
    }
  }
  return lines;
}

/**
 * The counter cannot attribute flushes to a process. If other programs also flush, it proves less, and the lines say
 * so.
 */
async function strangersNote(plan: Plan): Promise<readonly string[]> {
  const before = plan.flushes.read();
  await setTimeout(1000);
  const others = plan.flushes.read() - before;
  if (others <= 1) return [];
  return [`other programs flushed the disk ${others} times in the second before this began`];
}

function table(lines: readonly FigureLine[]): string {
  const rows = lines.map((line) => [
    line.pass ? 'ok' : 'MISS',
    line.name,
    `${line.value} ${line.unit}`,
    `${line.limitValue} (${line.limitName})`,
    `${line.ratio}`,
    line.bar,
  ]);
  const all = [['', 'figure', 'value', 'limit', 'ratio', 'bar'], ...rows];
  const widths = present(all[0]).map((_, column) => Math.max(...all.map((row) => present(row[column]).length)));
  return `\n${all.map((row) => row.map((cell, column) => cell.padEnd(present(widths[column]))).join('  ')).join('\n')}\n`;
}

async function exitCode(): Promise<number> {
  try {
    return await main();
  } catch (error) {
    if (!isCairnError(error)) throw error;
    process.stderr.write(`${error.message}\n${error.hint ?? ''}\n`);
    return error.code === 'config_invalid' ? 2 : 1;
  }
}

// Not `process.exitCode`: what starts Postgres ends a process that has nothing left to do, with 0.
process.exit(await exitCode());
