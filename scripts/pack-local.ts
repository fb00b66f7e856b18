/** Packs the three packages into dist/packages, where `cairn init` finds them until they are published. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const target = join(root, 'dist/packages');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const name of ['protocol', 'client', 'host']) {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: join(root, 'packages', name),
    stdio: ['ignore', 'ignore', 'inherit'],
    // npm is a .cmd file on Windows, which needs a shell.
    shell: process.platform === 'win32',
  });
}
process.stdout.write(`${target}\n`);
