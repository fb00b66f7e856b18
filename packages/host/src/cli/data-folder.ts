/** The data folder of a command that needs no host: the one named, else the one served in this folder or above it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { upward } from './find-host.ts';
import type { Terminal } from './terminal.ts';

export function dataFolder(terminal: Terminal, named: string | undefined): string {
  const said = named ?? terminal.env.CAIRN_DATA;
  if (said !== undefined && said !== '') return resolve(terminal.cwd, said);
  for (const folder of upward(terminal.cwd)) {
    const dev = join(folder, '.cairn');
    if (existsSync(join(dev, 'cairn.db'))) return dev;
    const configured = configuredFolder(join(folder, 'cairn.json'));
    if (configured !== null) return configured;
  }
  throw new TerminalError('config_invalid', {
    message: `No data folder is known: there is no .cairn and no cairn.json in ${terminal.cwd} or above it.`,
    hint: 'Name it with --data, or run the command where the host runs.',
  });
}

function configuredFolder(file: string): string | null {
  try {
    const { data = '.cairn' } = JSON.parse(readFileSync(file, 'utf8')) as { readonly data?: unknown };
    return typeof data === 'string' ? resolve(dirname(file), data) : null;
  } catch {
    return null;
  }
}
