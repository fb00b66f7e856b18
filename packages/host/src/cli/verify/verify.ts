/** `cairn verify`: checks a run, a bundle, a backup or a whole data folder, without a host. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { openReadOnly } from '../../log/sqlite/folder/read-only.ts';
import { dataFolder } from '../data-folder.ts';
import { keptRunNamed } from '../kept-run-name.ts';
import type { Terminal } from '../terminal.ts';
import { type CheckpointFile, checkpointFile } from './checkpoint-file.ts';
import { compareFolder, compareRun } from './compare.ts';
import { Verdict } from './verdict.ts';
import { isDatabase, verifyBackup } from './verify-backup.ts';
import { verifyBundle } from './verify-bundle.ts';
import { verifyFolder, verifyKept } from './verify-folder.ts';

export interface VerifyFlags {
  readonly data?: string;
  readonly config?: string;
  /** The file of a signed checkpoint. */
  readonly against?: string;
  /** Public keys whose checkpoints count. */
  readonly key?: readonly string[];
  readonly json?: boolean;
}

/**
 * An existing file is a bundle or a backup, an existing folder is a data folder, any other name is a run. Without a name:
 * all runs.
 */
export async function verify(terminal: Terminal, name: string | undefined, flags: VerifyFlags): Promise<number> {
  const verdict = new Verdict(terminal);
  const path = resolve(terminal.cwd, name ?? '');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (name !== undefined && stat?.isDirectory() === false) {
    // Nothing beside a file tells which keys count.
    const against = await checkpointFile(terminal, flags, null);
    if (stat.isFile() && isDatabase(path))
      verifyBackup(path, verdict, (folder) => verifyAll(folder, { verdict, against }));
    else verifyBundle(path, verdict, against);
  } else if (name === undefined || existsSync(join(path, 'cairn.db'))) {
    const folder = name === undefined ? dataFolder(terminal, flags.data) : path;
    verifyAll(folder, { verdict, against: await checkpointFile(terminal, flags, folder) });
    return verdict.print(folder, flags.json === true);
  } else if (stat?.isDirectory() === true) throw notAFolder(name);
  else {
    const folder = dataFolder(terminal, flags.data);
    verifyRun(folder, name, { verdict, against: await checkpointFile(terminal, flags, folder) });
  }
  return verdict.print(name, flags.json === true);
}

interface Verification {
  readonly verdict: Verdict;
  readonly against: CheckpointFile | null;
}

function verifyRun(folder: string, name: string, { verdict, against }: Verification): void {
  const log = openReadOnly(folder);
  try {
    const run = log.run(keptRunNamed(log, name));
    if (run === null) throw noRun(name, folder);
    verdict.runId = run.runId;
    verdict.hash = verifyKept(log, run, verdict);
    if (against !== null) compareRun(log, run, { verdict, against });
  } finally {
    log.close();
  }
}

function verifyAll(folder: string, { verdict, against }: Verification): void {
  const log = openReadOnly(folder);
  try {
    verifyFolder(log, verdict);
    if (against !== null) compareFolder(log, { verdict, against });
  } finally {
    log.close();
  }
}

const notAFolder = (name: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The folder ${name} is no data folder: it has no cairn.db.`,
    hint: 'Pass a run id, the path of a bundle, of a backup or of a data folder.',
  });

const noRun = (name: string, folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no file ${name}, and no run with that id in ${folder}.`,
    hint: 'Pass a run id, the path of a bundle, of a backup or of a data folder. --data selects another data folder.',
  });
