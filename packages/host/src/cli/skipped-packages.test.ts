import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownPackageFile, skippedPackages } from './skipped-packages.ts';

function project(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-skipped-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(content));
  }
  return folder;
}

const host = 'node_modules/@cairn/host/package.json';
const optionalDependencies = { '@ai-sdk/anthropic': '1.0.0', '@ai-sdk/openai': '1.0.0', 'odd-thing': '1.0.0' };
const old = 'npm/11.0.0 node/v20.20.2 linux x64 workspaces/false';

test('names the packages that npm skipped, and the Node or platform that did not fit', () => {
  const folder = project({
    [host]: { optionalDependencies },
    'node_modules/@ai-sdk/openai/package.json': {},
    'package-lock.json': {
      packages: {
        'node_modules/@ai-sdk/anthropic': { engines: { node: '>=22' } },
        'node_modules/odd-thing': { os: ['plan9'], cpu: ['mips'] },
      },
    },
  });
  const found = skippedPackages({ packageFile: join(folder, host), cwd: folder, userAgent: old });
  expect(found).toEqual([
    {
      name: '@ai-sdk/anthropic',
      purpose: 'models of Anthropic',
      reason: 'it needs Node >=22, and npm runs on Node 20.20.2',
    },
    {
      name: 'odd-thing',
      purpose: 'optional features',
      reason: `it is for plan9, mips, and this is ${process.platform}, ${process.arch}`,
    },
  ]);
});

test('says what it knows without a lock file, and outside of npm', () => {
  const folder = project({ [host]: { optionalDependencies: { '@ai-sdk/google': '1.0.0' } } });
  const packageFile = join(folder, host);
  const [bare] = skippedPackages({ packageFile, cwd: folder, userAgent: undefined });
  expect(bare?.reason).toBe('npm did not install it, perhaps because of --omit=optional');
  const packages = { 'node_modules/@ai-sdk/google': { engines: { node: '>=22' } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  const [locked] = skippedPackages({ packageFile, cwd: folder, userAgent: undefined });
  expect(locked?.reason).toBe('it needs Node >=22; npm skips it if npm itself runs on another one');
});

test('a complete installation has none', () => {
  expect(skippedPackages({ packageFile: ownPackageFile, cwd: '/', userAgent: old })).toEqual([]);
});
