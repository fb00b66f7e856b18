/** `cairn backup` and `cairn restore`: copy a data folder into one file while a host uses it, and back. */
import { relative, resolve } from 'node:path';
import { type BackupFacts, backupFolder, restoreFolder } from '../log/sqlite/folder/backup.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface BackupFlags {
  readonly data?: string;
  readonly includeKey?: boolean;
  readonly json?: boolean;
}

export interface RestoreFlags {
  readonly data: string;
  readonly json?: boolean;
}

export async function backup(terminal: Terminal, name: string, flags: BackupFlags): Promise<number> {
  const folder = dataFolder(terminal, flags.data);
  const file = resolve(terminal.cwd, name);
  const options = { hasKey: flags.includeKey === true, at: terminal.now(), onProgress: quarters(terminal) };
  const facts = await backupFolder(folder, file, options);
  if (flags.json === true) terminal.print(jsonLine({ file, ...shown(facts) }));
  else {
    terminal.print(`${mark(terminal)} ${safe(relative(terminal.cwd, file))}: ${sizes(facts)}`);
    terminal.tell(
      facts.hasKey
        ? 'It contains the data of all runs and the key of the host. Keep it as safe as a password.'
        : 'It contains the data of all runs, but not host.key. Keep that file, too: a restored host needs it.',
    );
  }
  return exit.ok;
}

export async function restore(terminal: Terminal, name: string, flags: RestoreFlags): Promise<number> {
  const folder = resolve(terminal.cwd, flags.data);
  const facts = restoreFolder(resolve(terminal.cwd, name), folder);
  if (flags.json === true) terminal.print(jsonLine({ folder, ...shown(facts) }));
  else {
    terminal.print(`${mark(terminal)} ${safe(folder)}: ${sizes(facts)}; all hashes are valid`);
    if (!facts.hasKey) terminal.tell(`Copy host.key of the old host to ${safe(folder)}, unless it has a masterKey.`);
    terminal.tell('Do not start it while the old host runs: both would go on with the same runs.');
  }
  return exit.ok;
}

/** Tells a person who waits when another quarter is copied. */
function quarters(terminal: Terminal): (copied: number, pages: number) => void {
  let told = 0;
  return (copied, pages) => {
    const quarter = Math.floor((copied / pages) * 4);
    if (terminal.columns === null || quarter <= told || quarter > 3) return;
    told = quarter;
    terminal.tell(`… ${quarter * 25} % copied`);
  };
}

const mark = (terminal: Terminal): string => styleOf(terminal.colours.out).green('✓');

const sizes = ({ runs, events, files }: BackupFacts): string => `runs: ${runs}, events: ${events}, files: ${files}`;

const shown = ({ at, ...facts }: BackupFacts) => ({ backedUpAt: new Date(at).toISOString(), ...facts });
