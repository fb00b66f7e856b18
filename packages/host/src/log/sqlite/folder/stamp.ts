/**
 * A stamp ties a database to the write-ahead log beside it. SQLite replays every log with valid checksums, even over a
 * database that it was not written for. So each start draws a stamp, writes it into the header of the database file and
 * into a file beside it. A database that was replaced since has another stamp.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { narrow } from './private-files.ts';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

/** Offsets in the header of a database file. */
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

export interface Header {
  readonly userVersion: number;
  readonly stamp: number;
}

/**
 * The header of the file itself, without its log; null for a file that has none. Not for a database that is open in this
 * process: to close the file again would release the locks of SQLite.
 */
export function headerOf(file: string): Header | null {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, 'r');
  try {
    if (readSync(handle, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  } finally {
    closeSync(handle);
  }
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  return { userVersion: bytes.readUInt32BE(USER_VERSION_AT), stamp: bytes.readInt32BE(APPLICATION_ID_AT) };
}

export const stampFile = (folder: string): string => join(folder, 'cairn.stamp');

/** The stamps that the database may have; null when the file is missing or was cut while it was written. */
export function knownStamps(folder: string): readonly number[] | null {
  if (!existsSync(stampFile(folder))) return null;
  const text = readFileSync(stampFile(folder), 'utf8');
  return /^-?\d+(?: -?\d+)*\n$/.test(text) ? text.trim().split(' ').map(Number) : null;
}

/** Gives an open, migrated database a new stamp, and returns it. */
export function stamp(db: DatabaseSync, folder: string): number {
  // SQLite draws the salts of a write-ahead log from the same source.
  const fresh = Number(db.prepare('SELECT abs(random() % 2147483647) + 1 AS fresh').get()?.fresh);
  const current = Number(db.prepare('PRAGMA application_id').get()?.application_id);
  // All of them are valid until the new one is in the file of the database: a reader may delay the checkpoint.
  writeStamps(folder, [...new Set([...(knownStamps(folder) ?? []), current, fresh])]);
  db.exec(`PRAGMA application_id = ${fresh}`);
  const { log, checkpointed } = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {};
  if (log === checkpointed) writeStamps(folder, [fresh]);
  return fresh;
}

function writeStamps(folder: string, stamps: readonly number[]): void {
  const handle = openSync(stampFile(folder), 'w', 0o600);
  try {
    writeSync(handle, `${stamps.join(' ')}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  narrow(stampFile(folder));
}
