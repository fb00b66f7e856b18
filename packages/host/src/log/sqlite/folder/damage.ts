/** Damage to a data folder that SQLite would not notice or would make worse. Nothing here changes a file. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { headerOf, knownStamps, stampFile } from './stamp.ts';

/** A write-ahead log of at most its own header has no frames. */
const WAL_HEADER_BYTES = 32;

/** Exists while a host runs, with the stamp of its database. A host that was killed leaves it. */
export const markerFile = (folder: string): string => join(folder, 'cairn.running');

/** A file that shows that a host ran in the folder; null in a new folder. */
function witness(folder: string): string | null {
  return [join(folder, 'host.key'), stampFile(folder)].find((file) => existsSync(file)) ?? null;
}

/** Refuses a folder whose database is lost, or whose database and write-ahead log do not belong together. */
export function refuseDamage(folder: string): void {
  const name = join(folder, 'cairn.db');
  const seen = witness(folder);
  const file = existsSync(name) ? realpathSync(name) : name;
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const hasFrames = wal !== undefined && wal.size > WAL_HEADER_BYTES;
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes === undefined || bytes === 0) {
    const shownBy = seen ?? (hasFrames ? `${file}-wal` : null);
    if (shownBy !== null) throw databaseLost(file, bytes === undefined ? 'is missing' : 'is empty', shownBy);
    return;
  }
  const header = headerOf(file);
  // SQLite itself refuses a file that is no database.
  if (header === null) return;
  if (!hasFrames) {
    if (header.userVersion === 0 && seen !== null) throw databaseLost(file, 'has no tables', seen);
    if (wal === undefined && diedWith(folder, header.stamp)) throw logLost(file);
    return;
  }
  const stamps = knownStamps(folder);
  if (stamps !== null && !stamps.includes(header.stamp)) throw foreignLog(file);
}

/** Whether a host was killed while it used this database. It then left a write-ahead log. */
function diedWith(folder: string, stamp: number): boolean {
  return existsSync(markerFile(folder)) && readFileSync(markerFile(folder), 'utf8') === String(stamp);
}

/** For a database that opens but turns out to be empty once its log is read. */
export function refuseEmpty(folder: string): void {
  const seen = witness(folder);
  if (seen !== null) throw databaseLost(join(folder, 'cairn.db'), 'has no tables', seen);
}

const databaseLost = (file: string, state: string, shownBy: string): TerminalError =>
  new TerminalError('store_missing', {
    message: `The database ${file} ${state}, but ${shownBy} shows that a host used this folder.`,
    hint: 'Restore the data folder from a backup. To start without the old runs, use a new data folder. "cairn doctor" checks a folder.',
    details: { file, shownBy },
  });

const foreignLog = (file: string): TerminalError =>
  new TerminalError('store_mismatch', {
    message: `The write-ahead log ${file}-wal does not belong to the database ${file}: one of them was replaced.`,
    hint: `Put back the two files that belong together. If you restored ${file} from a backup on purpose, move ${file}-wal and ${file}-shm out of the folder.`,
    details: { file },
  });

const logLost = (file: string): TerminalError =>
  new TerminalError('store_mismatch', {
    message: `The last host on ${file} was killed, and its write-ahead log ${file}-wal is gone. It may contain acknowledged events.`,
    hint: 'Put the log back, or restore the folder from a backup. If another program has merged the log into the database, delete cairn.running.',
    details: { file },
  });
