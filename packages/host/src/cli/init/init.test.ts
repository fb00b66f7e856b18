import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { typed } from '../recording-terminal.kit.ts';
import { nodeOfPlatform, toolsOfProject } from './pinned-packages.ts';

const root = join(import.meta.dirname, '../../../../..');

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-init-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

test('writes a project that names the packages of the checkout', async () => {
  const cwd = folder();
  const { code, out } = await typed(['init', 'my-app', '--json'], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(out).files.toSorted()).toEqual(readdirSync(join(cwd, 'my-app')).sort());
  const { name, dependencies, scripts } = readJson(join(cwd, 'my-app/package.json'));
  expect([name, Object.keys(scripts)]).toEqual(['my-app', ['dev', 'test', 'check']]);
  expect(dependencies).toEqual({
    '@cairn/protocol': `file:${root}/dist/packages/cairn-protocol-0.0.0.tgz`,
    '@cairn/client': `file:${root}/dist/packages/cairn-client-0.0.0.tgz`,
    '@cairn/host': `file:${root}/dist/packages/cairn-host-0.0.0.tgz`,
  });
});

test('takes the packages of a folder, and says which one is missing there', async () => {
  const cwd = folder();
  mkdirSync(join(cwd, 'packed'));
  for (const name of ['protocol', 'client']) writeFileSync(join(cwd, `packed/cairn-${name}-1.2.3.tgz`), '');
  const short = await typed(['init', 'app', '--packages', 'packed'], { cwd });
  expect([short.code, short.err]).toEqual([3, expect.stringContaining('has no cairn-host-VERSION.tgz')]);
  writeFileSync(join(cwd, 'packed/cairn-host-1.2.3.tgz'), '');
  expect((await typed(['init', 'app', '--packages', 'packed'], { cwd })).code).toBe(0);
  expect(readJson(join(cwd, 'app/package.json')).dependencies['@cairn/host']).toBe(
    `file:${cwd}/packed/cairn-host-1.2.3.tgz`,
  );
});

test('refuses a folder with files, a folder in the checkout, and a name that npm would refuse', async () => {
  const cwd = folder();
  writeFileSync(join(cwd, 'file'), '');
  const full = await typed(['init', '.'], { cwd });
  expect([full.code, full.err]).toEqual([4, expect.stringContaining('is not empty')]);
  const inside = await typed(['init', 'my-app'], { cwd: root });
  expect([inside.code, inside.err]).toEqual([2, expect.stringContaining('is inside the checkout')]);
  const odd = await typed(['init', 'my app'], { cwd });
  expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('"my app" cannot be the name of a package')]);
  expect(readdirSync(cwd)).toEqual(['file']);
});

test('a new project gets the Node and the tools that this repository uses', () => {
  const { optionalDependencies, devDependencies } = readJson(join(root, 'package.json'));
  expect(nodeOfPlatform).toMatchObject(optionalDependencies);
  expect(devDependencies).toMatchObject(toolsOfProject);
});
