/** Plants each defect of the list in a copy of the repository and requires the suite named beside it to fail. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { plantedBugs } from './bugs.ts';
import { type PlantedBug, plant, suiteName } from './planted-bug.ts';
import { runSuite, type SuiteResult } from './run-suite.ts';
import { openWorkbench } from './workbench.ts';

const help = `npm run e2e:planted-bugs [-- name...] [--list] [--json]

Plants one defect at a time in a copy of this repository and requires the suite named beside it to fail;
the same suites must pass without a defect. Exits 1 when a defect goes unnoticed.

  name...   only these defects
  --list    print names and suites, run nothing
  --json    one line of JSON for each defect on stdout
  --help    this page
`;

const root = join(import.meta.dirname, '..', '..');

function chosen(names: readonly string[]): readonly PlantedBug[] {
  const unknown = names.filter((name) => !plantedBugs.some((bug) => bug.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no planted bug ${unknown.join(', ')}.\n\n${help}`);
    process.exit(2);
  }
  return names.length === 0 ? plantedBugs : plantedBugs.filter((bug) => names.includes(bug.name));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(help);
    return;
  }
  const bugs = chosen(positionals);
  if (values.list === true) {
    for (const bug of bugs) process.stdout.write(`${bug.name}: ${suiteName(bug.suite)}\n`);
    return;
  }
  const say = (name: string, ok: boolean, detail: string): void => {
    if (!ok) process.exitCode = 1;
    const line =
      values.json === true ? JSON.stringify({ name, ok, detail }) : `${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}`;
    process.stdout.write(`${line}\n`);
  };
  await using bench = await openWorkbench(root);
  const suites = new Map(bugs.map(({ suite }) => [suiteName(suite), suite]));
  for (const [name, suite] of suites) {
    const { failed, detail } = await tried(() => runSuite(bench.root, suite));
    say(`without a defect, ${name}`, failed === false, failed === false ? detail : `must pass, but: ${detail}`);
  }
  for (const bug of bugs) {
    const { failed, detail } = await tried(() => withDefect(bench.root, bug));
    say(bug.name, failed === true, failed === true ? `caught by "${detail}"` : `went unnoticed: ${detail}`);
  }
}

/** A suite that did not run proves nothing about the defect, and must not block the remaining defects. */
async function tried(run: () => Promise<SuiteResult>): Promise<{ failed: boolean | null; detail: string }> {
  try {
    return await run();
  } catch (error) {
    return { failed: null, detail: (error as Error).message };
  }
}

async function withDefect(bench: string, bug: PlantedBug): Promise<SuiteResult> {
  const path = join(bench, bug.file);
  const { sound, defective } = await plant(bench, bug);
  await writeFile(path, defective);
  try {
    return await runSuite(bench, bug.suite);
  } finally {
    await writeFile(path, sound);
  }
}

await main();
