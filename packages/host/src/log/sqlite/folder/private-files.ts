/** Only the user of the host may read a data folder and its files, whatever umask the host has. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { TerminalError } from '@cairn/protocol';

/** Permissions of the group and of others. */
const OTHERS = 0o077;

const hasModes = process.platform !== 'win32';

/** Creates the folder if it is missing, and refuses one that other users may look into. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mode = statSync(folder).mode & 0o777;
  if (!hasModes || (mode & OTHERS) === 0) return;
  throw new TerminalError('data_folder_exposed', {
    message: `The data folder ${folder} has mode ${mode.toString(8).padStart(4, '0')}: other users of this machine may use it.`,
    hint: `Run "chmod 700 ${folder}". If the folder belongs to somebody else, such as the root of a volume, name a new folder inside it: the host creates it for itself.`,
    details: { folder, mode: mode.toString(8).padStart(4, '0') },
  });
}

/**
 * SQLite gives the write-ahead log and the shared memory of a database the mode of the database. An existing file is not
 * opened here: to close it again would release the locks that SQLite holds on it in this process.
 */
export function privateFile(file: string): void {
  if (existsSync(file)) narrow(file);
  else closeSync(openSync(file, 'a', 0o600));
}

/** Takes a file of an earlier version from other users. */
export function narrow(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (hasModes && found !== undefined && (found.mode & OTHERS) !== 0) chmodSync(file, 0o600);
}
