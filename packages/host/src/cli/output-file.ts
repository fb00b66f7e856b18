/** The path of a file that a verb writes. Other verbs read `-` as stdin, so nobody means a file of that name. */
import { resolve } from 'node:path';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export function outputFile({ cwd }: Terminal, name: string): string {
  if (name !== '-') return resolve(cwd, name);
  throw usageError('The output goes to a file, and "-" is none.', 'Name a file. ./- is one with that name.');
}
