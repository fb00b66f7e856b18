/**
 * Runs a suite in a workbench and reports whether it failed for the right reason: a failed assertion, not a broken
 * build.
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Suite } from './planted-bug.ts';

export interface SuiteResult {
  readonly failed: boolean;
  /** The first failed assertion, or how the suite passed. */
  readonly detail: string;
}

interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runSuite(root: string, suite: Suite): Promise<SuiteResult> {
  return suite.kind === 'sim' ? runSimulation(root, suite.seeds) : runVitest(root, suite);
}

async function runSimulation(root: string, seeds: string): Promise<SuiteResult> {
  const main = join('e2e', 'sim', 'main.ts');
  const output = await run(root, ['--conditions=@cairn/source', main, '--seeds', seeds, '--json']);
  const summary = parse<{ seeds: number; breach: { seed: number; invariant: string } | null }>(output);
  const { breach } = summary;
  return breach === null
    ? { failed: false, detail: `${summary.seeds} seeds kept every promise` }
    : { failed: true, detail: `seed ${breach.seed}: ${breach.invariant}` };
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function runVitest(root: string, suite: Extract<Suite, { kind: 'vitest' }>): Promise<SuiteResult> {
  const program = join('node_modules', 'vitest', 'vitest.mjs');
  const filter = suite.test === undefined ? [] : ['-t', suite.test];
  const file = join(root, 'suite-report.json');
  await rm(file, { force: true });
  const output = await run(root, [program, 'run', suite.path, ...filter, '--reporter=json', `--outputFile=${file}`]);
  const stdout = await readFile(file, 'utf8').catch(() => '');
  const report = parse<VitestReport>({ ...output, stdout });
  const failures = report.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status }) => status === 'failed');
  const [first] = failures;
  if (first !== undefined) return { failed: true, detail: first.fullName };
  if (report.numPassedTests === 0 || output.code !== 0) throw unusable(output);
  return { failed: false, detail: `${report.numPassedTests} tests passed` };
}

function run(root: string, args: readonly string[]): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

function parse<Shape>(output: Output): Shape {
  try {
    return JSON.parse(output.stdout) as Shape;
  } catch {
    throw unusable(output);
  }
}

const unusable = ({ code, stdout, stderr }: Output): Error =>
  new Error(`The suite did not run (exit ${code}):\n${stderr.slice(-2000)}\n${stdout.slice(-2000)}`);
