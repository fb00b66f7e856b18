import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';

const program = join(import.meta.dirname, 'main.ts');

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--conditions=@cairn/source', program, ...args]);
  const output = { stdout: '', stderr: '' };
  const { promise: spoke, resolve: speaks } = Promise.withResolvers<void>();
  const { promise: ended, resolve: ends } = Promise.withResolvers<number | null>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
    speaks();
  });
  child.on('close', ends);
  return { child, spoke, end: async () => ({ code: await ended, ...output }) };
}

test('prints the same summary for the same seed, as one line of JSON', async () => {
  const runs = [start('--seed', '7', '--steps', '40', '--json'), start('--seed', '7', '--steps', '40', '--json')];
  const [first, second] = await Promise.all(runs.map((run) => run.end()));
  expect(present(first).code).toBe(0);
  expect(present(first).stdout).toBe(present(second).stdout);
  expect(JSON.parse(present(first).stdout)).toMatchObject({ from: 7, to: 7, seeds: 1, breach: null, stopped: false });
});

test('prints every line of the trace when asked to', async () => {
  const { stderr, stdout } = await start('--seed', '7', '--steps', '40', '--trace').end();
  expect(stderr).toContain('  a1 boots\n');
  expect(stderr).toContain('  the world becomes kind\n');
  expect(stdout).toContain('every promise was kept');
});

test('says what it takes, and refuses what it does not', async () => {
  const page = await start('--help').end();
  expect(page.code).toBe(0);
  expect(page.stdout).toContain('--seeds A..B');
  const wrong = await start('--seeds', '5').end();
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('Give either --seed S or --seeds A..B.');
});

test('stops after the seed under way when interrupted, with what it has found so far', async () => {
  const run = start('--seeds', '1..1000000', '--steps', '20', '--trace', '--json');
  await run.spoke;
  run.child.kill('SIGINT');
  const { code, stdout } = await run.end();
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ stopped: true, breach: null });
});
