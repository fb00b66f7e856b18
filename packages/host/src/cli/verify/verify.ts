/** `cairn verify`: checks a run, a bundle, a backup, a whole data folder or a database, without a host. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { openReadOnly, type ReadOnlyLog } from '../../log/sqlite/folder/read-only.ts';
import { keptRunNamed } from '../kept-run-name.ts';
import { type StoreFlags, withLog } from '../offline-store.ts';
import type { Terminal } from '../terminal.ts';
import { type CheckpointFile, checkpointFile } from './checkpoint-file.ts';
import { compareFolder, compareRun } from './compare.ts';
import { Verdict } from './verdict.ts';
import { isDatabase, verifyBackup } from './verify-backup.ts';
import { verifyBundle } from './verify-bundle.ts';
import { verifyFolder, verifyKept } from './verify-folder.ts';

export interface VerifyFlags extends StoreFlags {
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
  const isFolder = name !== undefined && existsSync(join(path, 'cairn.db'));
  if (name !== undefined && stat?.isDirectory() === false) {
    // Nothing beside a file tells which keys count.
    const against = await checkpointFile(terminal, flags, null);
    if (stat.isFile() && isDatabase(path))
      verifyBackup(path, verdict, (folder) => verifyOpened(folder, { verdict, against }));
    else verifyBundle(path, verdict, against);
  } else if (isFolder) {
    verifyOpened(path, { verdict, against: await checkpointFile(terminal, flags, { folder: path }) });
    return verdict.print(path, flags.json === true);
  } else if (stat?.isDirectory() === true && name !== undefined) throw notAFolder(name);
  else {
    const names = name === undefined ? null : [name];
    const shown = await withLog(terminal, { flags, names }, async (opened) => {
      const { log, place, folder, problems } = opened;
      const against = await checkpointFile(terminal, flags, { folder });
      if (name === undefined) verifyAll(log, { verdict, against });
      else verifyRun(log, { name, place, verdict, against });
      for (const problem of problems) verdict.problem(problem);
      return place;
    });
    return verdict.print(name ?? shown, flags.json === true);
  }
  return verdict.print(name, flags.json === true);
}

interface Verification {
  readonly verdict: Verdict;
  readonly against: CheckpointFile | null;
}

function verifyRun(
  log: ReadOnlyLog,
  { name, place, verdict, against }: Verification & { readonly name: string; readonly place: string },
): void {
  const run = log.run(keptRunNamed(log, name));
  if (run === null) throw noRun(name, place);
  verdict.runId = run.runId;
  verdict.hash = verifyKept(log, run, verdict);
  if (against !== null) compareRun(log, run, { verdict, against });
}

function verifyOpened(folder: string, verification: Verification): void {
  const log = openReadOnly(folder);
  try {
    verifyAll(log, verification);
  } finally {
    log.close();
  }
}

function verifyAll(log: ReadOnlyLog, { verdict, against }: Verification): void {
  verifyFolder(log, verdict);
  if (against !== null) compareFolder(log, { verdict, against });
}

const notAFolder = (name: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The folder ${name} is not a data folder: it has no cairn.db.`,
    hint: 'Pass a run id, the path of a bundle, of a backup or of a data folder.',
  });

const noRun = (name: string, place: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no file ${name}, and no run with that id in ${place}.`,
    hint: 'Pass a run id, the path of a bundle, of a backup or of a data folder. --data and --store select another store.',
  });
