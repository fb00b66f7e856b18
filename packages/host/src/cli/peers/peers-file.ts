/** The configuration file that lists the peers of a host: read with the host's own rules, and changed in one step. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { TerminalError, thrownText } from '@cairn/protocol';
import { type ConfigInput, checkedShape } from '../../server/config/config.ts';
import { parseConfigJson } from '../../server/config/json.ts';
import { upward } from '../find-host.ts';
import type { Terminal } from '../terminal.ts';
import { withMember } from './config-text.ts';

export interface PeersFile {
  readonly path: string;
  readonly text: string;
  readonly config: ReturnType<typeof checkedShape>;
}

/** The file of `--config`, or `cairn.json` of this folder or a parent folder. Variables that it names need not be set. */
export function readPeersFile({ cwd }: Pick<Terminal, 'cwd'>, given: string | undefined): PeersFile {
  const path = given === undefined ? nearestFile(cwd) : resolve(cwd, given);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new TerminalError('config_invalid', {
      message: `The configuration ${path} cannot be read: ${thrownText(cause)}.`,
      hint: 'Check the path given with --config.',
      cause,
    });
  }
  return { path, text, config: checkedShape(parseConfigJson(text, path), path) };
}

function nearestFile(cwd: string): string {
  for (const folder of upward(cwd)) if (existsSync(join(folder, 'cairn.json'))) return join(folder, 'cairn.json');
  throw new TerminalError('config_invalid', {
    message: 'There is no cairn.json in this folder or its parent folders.',
    hint: 'Pass the configuration of your host with --config.',
  });
}

export type Additions = Pick<ConfigInput, 'peers' | 'keys'>;

/** Appends entries to the lists. The result is validated before anything is written. */
export function writePeers({ path, text }: PeersFile, additions: Additions): void {
  const before = parseConfigJson(text, path);
  let changed = text;
  for (const name of ['peers', 'keys'] as const) {
    const added = additions[name] ?? [];
    if (added.length === 0) continue;
    const old: unknown = typeof before === 'object' && before !== null ? Reflect.get(before, name) : undefined;
    changed = withMember(changed, name, JSON.parse(JSON.stringify([...(Array.isArray(old) ? old : []), ...added])));
  }
  checkedShape(parseConfigJson(changed, path), path);
  replaceFile(realpathSync(path), changed);
}

/** A reader sees the old file or the new one, never half of it. The new one has the permissions of the old one. */
function replaceFile(path: string, text: string): void {
  const { mode } = statSync(path);
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(draft, 'wx', mode & 0o777);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new TerminalError('config_invalid', {
      message: `The configuration ${path} cannot be written: ${thrownText(cause)}.`,
      hint: 'Check who may write to the file and its folder.',
      cause,
    });
  }
}
