/** Finds the data folder of a command that needs no host: the given one, or the one here or in a parent folder. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { upward } from './find-host.ts';
import { fieldsOf } from './render/fields.ts';
import type { Terminal } from './terminal.ts';

export function dataFolder(terminal: Terminal, option: string | undefined): string {
  const given = option ?? terminal.env.CAIRN_DATA;
  if (given !== undefined && given !== '') return resolve(terminal.cwd, given);
  for (const folder of upward(terminal.cwd)) {
    const dev = join(folder, '.cairn');
    if (existsSync(join(dev, 'cairn.db'))) return dev;
    const configured = configuredFolder(join(folder, 'cairn.json'));
    if (configured !== null) return configured;
  }
  throw new TerminalError('config_invalid', {
    message: `No data folder found: there is no .cairn and no cairn.json in ${terminal.cwd} or its parent folders.`,
    hint: 'Pass it with --data, or run the command in the folder of the host.',
  });
}

function configuredFolder(file: string): string | null {
  try {
    const { data = '.cairn' } = fieldsOf(JSON.parse(readFileSync(file, 'utf8')));
    return typeof data === 'string' ? resolve(dirname(file), data) : null;
  } catch {
    return null;
  }
}
