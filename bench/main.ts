/** `npm run bench`: measures each figure beside its limit and prints one JSON line per figure to stdout. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
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
import type { Group, Plan } from './plan.ts';
import { replayGroup } from './replay-figures.ts';
import { runGroup } from './run-figures.ts';
import { streamGroup } from './stream-figures.ts';
import { studioGroup } from './studio-figures.ts';
import { suspendedGroup } from './suspended-figures.ts';
import { taskGroup } from './task-figures.ts';
import { wakingGroup } from './waking-figures.ts';

const groups: readonly Group[] = [
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

const help = `npm run bench [-- name...] [--quick] [--json]

Measures what Cairn does beside what the machine allows, in the same run, and prints one JSON line
per figure on stdout; progress and a table go to stderr. Ends with 1 when a figure misses its bar.

  name      a group or a figure; without one, everything
  --quick   short rounds: shows that it works, not what it reaches
  --json    nothing but the JSON lines, and errors
  --help    this text

${groups.map((group) => `  ${group.name.padEnd(10)} ${group.about}\n${group.figures.map((name) => `             ${name}`).join('\n')}`).join('\n')}

Figures are only worth reading from a machine that does nothing else. See docs/benchmarks.md.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const chosen = choose(positionals);
  const out = join(import.meta.dirname, 'out');
  mkdirSync(out, { recursive: true });
  const quick = values.quick === true;
  const plan: Plan = {
    folder: mkdtempSync(join(out, 'data-')),
    flushes: openFlushCounter(out),
    quick,
    rounds: quick ? 1 : 3,
    progress: (text) => values.json !== true && process.stderr.write(`${text}\n`),
  };
  process.on('exit', () => rmSync(plan.folder, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  plan.progress(`data in ${plan.folder}, on ${plan.flushes.device}`);
  const lines = await measure(chosen, plan, await strangersNote(plan));
  if (values.json !== true) process.stderr.write(table(lines));
  return lines.every((line) => line.pass) ? 0 : 1;
}

/** Selects the groups to run, each with the figures to print. */
function choose(names: readonly string[]): readonly { readonly group: Group; readonly figures: readonly string[] }[] {
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

async function measure(
  chosen: ReturnType<typeof choose>,
  plan: Plan,
  strangers: readonly string[],
): Promise<readonly FigureLine[]> {
  const lines: FigureLine[] = [];
  for (const { group, figures } of chosen) {
    plan.progress(`${group.name}: ${group.about}`);
    for (const figure of await group.run(plan, figures)) {
      if (!figures.includes(figure.name)) continue;
      const notes = [...(figure.notes ?? []), ...(figure.durability === undefined ? [] : strangers)];
      const line = figureLine({ ...figure, notes });
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

try {
  process.exitCode = await main();
} catch (error) {
  if (!isCairnError(error)) throw error;
  process.stderr.write(`${error.message}\n${error.hint ?? ''}\n`);
  process.exitCode = error.code === 'config_invalid' ? 2 : 1;
}
