/** Runs the checks of external programs, and returns their output as findings. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writePageCode } from '../page-code.ts';
import type { Finding } from './finding.ts';

interface Run {
  readonly bin: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

const bins = join(import.meta.dirname, '../../node_modules/.bin');

export const biome = (root: string): Promise<readonly Finding[]> =>
  run({ bin: 'biome', args: ['check', '--error-on-warnings', '--colors=off', '--max-diagnostics=50'], cwd: root });

export function types(root: string): Promise<readonly Finding[]> {
  // A fixture has no pages.
  if (existsSync(join(root, 'docs'))) writePageCode(root);
  return run({ bin: 'tsc', args: ['-p', 'tsconfig.check.json', '--pretty', 'false'], cwd: root });
}

/** Files, exports and dependencies that nothing uses. */
export const unused = (root: string): Promise<readonly Finding[]> =>
  run({ bin: 'knip', args: ['--no-progress', '--treat-config-hints-as-errors'], cwd: root });

function run({ bin, args, cwd }: Run): Promise<readonly Finding[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(bins, bin), args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const hear = (chunk: string): void => {
      said += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve([]);
      else resolve([{ message: said.trim() || `${bin} ended with ${code} and said nothing.` }]);
    });
  });
}
