/** What the command line says when it is used wrongly, or when files refuse: words and a way on, never a stack. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { quickStart } from '../../test/kit/quick-start.ts';
import { typed } from './recording-terminal.kit.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-wrong-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test('"help VERB" prints the help of the verb', async () => {
  expect(await typed(['help', 'run'])).toEqual(await typed(['run', '--help']));
  expect(await typed(['help', 'pack', 'init'])).toEqual(await typed(['pack', 'init', '--help']));
  expect(await typed(['help'])).toEqual(await typed(['--help']));
});

test.each([
  ['an unknown option', ['runs', '--bogus'], "unknown option '--bogus'"],
  ['a missing argument', ['import'], "missing required argument 'bundle'"],
  ['a wrong number', ['runs', '--limit', 'x'], 'must be a number'],
])('with --json, %s is an error envelope and nothing else', async (_name, args, message) => {
  const { code, out, err } = await typed([...args, '--json']);
  expect([code, out]).toEqual([2, '']);
  expect(JSON.parse(err)).toMatchObject({ error: 'validation_error', message: expect.stringContaining(message) });
});

test('hints about usage name the command as it is typed here', async () => {
  const { err } = await typed(['runs', '--bogus'], { env: { npm_lifecycle_event: 'npx' } });
  expect(err).toContain('"npx cairn --help"');
});

test.each([
  ['a project', ['init', 'file/app']],
  ['a pack', ['pack', 'init', 'file/pack']],
])('a folder that cannot be made for %s is named, without a stack', async (_name, args) => {
  const cwd = folder();
  writeFileSync(join(cwd, 'file'), '');
  const { code, err } = await typed(args, { cwd });
  expect(code).toBe(2);
  expect(err).toContain(`${join(cwd, 'file')}`);
  expect(err).toContain('cannot be used: a part of the path is not a folder.');
  expect(err).not.toContain('    at ');
});

test('a name that npm refuses is refused before anything is written', async () => {
  const cwd = folder();
  const { code, err } = await typed(['init', 'node_modules'], { cwd });
  expect([code, readdirSync(cwd)]).toEqual([2, []]);
  expect(err).toContain('"node_modules" cannot be the name of a package.');
});

test('a start without a configuration says what to write, and what needs none', async () => {
  const { code, err } = await typed(['start'], { cwd: folder() });
  expect(code).toBe(2);
  for (const part of ['cairn.json', 'there is no such file', '--config', 'cairn start --help', 'cairn dev'])
    expect(err).toContain(part);
});

test('an output that cannot be written ends the command with 1 and a reason', () => {
  const file = join(folder(), 'read-only');
  writeFileSync(file, '');
  // As on a full disk, every write fails.
  const out = openSync(file, 'r');
  const bin = fileURLToPath(new URL('../../bin/cairn.mjs', import.meta.url));
  const ended = spawnSync(process.execPath, [bin, 'explain'], {
    env: { PATH: process.env.PATH, ...quickStart },
    stdio: ['ignore', out, 'pipe'],
    encoding: 'utf8',
  });
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringContaining('The output cannot be written: EBADF')]);
});
