/** One process per data folder. The operating system releases the lock when its holder exits, even by a crash. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RetryableError } from '@cairn/protocol';
import { isBusy, storeError } from '../errors.ts';
import { privateFile } from './private-files.ts';

export interface FolderLock {
  release(): void;
}

/** Locks a folder for this process, or fails when another process holds it. */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'cairn.lock');
  let db: DatabaseSync | undefined;
  try {
    privateFile(file);
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (!isBusy(error)) throw storeError(error, file);
    throw new RetryableError('store_locked', {
      message: `The data folder ${folder} is in use by another process.`,
      hint: 'Stop the other host, or give this one a data folder of its own.',
      cause: error,
    });
  }
  const held = db;
  return { release: () => held.close() };
}
