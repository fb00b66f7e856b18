/** An installation under an older Node prints no engine warnings: everything else runs on the pinned Node. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = dirname(import.meta.dirname);
const files = ['package.json', 'package-lock.json', '.npmrc', ...['protocol', 'client', 'host'].map(packageFile)];

function packageFile(name: string): string {
  return `packages/${name}/package.json`;
}

/** What `npm ci` would print with the oldest Node that an installation supports. It changes nothing. */
async function installed(...args: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
  const older = join(folder, 'older-node.cjs');
  writeFileSync(older, "Object.defineProperty(process, 'version', { value: 'v20.19.0' });");
  // Under `npm test` the settings of the outer npm are in the environment.
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = { ...Object.fromEntries(outer), NODE_OPTIONS: `--require ${older}` };
  const asked = ['ci', '--dry-run', '--offline', '--ignore-scripts', ...args];
  const { stdout, stderr } = await promisify(execFile)('npm', asked, { cwd: folder, env });
  return `${stdout}${stderr}`;
}

test('an installation under an older Node prints no engine warnings, and a switch shows them', async () => {
  expect(await installed()).not.toContain('EBADENGINE');
  expect(await installed('--loglevel=warn')).toContain('EBADENGINE');
});
