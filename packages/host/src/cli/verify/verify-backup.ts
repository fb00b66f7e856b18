/** Verifies a backup: everything that a restore checks, then the data folder that it makes. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { restoreFolder } from '../../log/sqlite/folder/backup.ts';
import type { Verdict } from './verdict.ts';

const DATABASE = 'SQLite format 3\0';

/** A backup is a database, and a bundle is text. */
export function isDatabase(file: string): boolean {
  const start = Buffer.alloc(DATABASE.length);
  const handle = openSync(file, 'r');
  try {
    return readSync(handle, start) === start.length && start.toString('latin1') === DATABASE;
  } finally {
    closeSync(handle);
  }
}

/** Restores the backup to a place of its own, which is gone afterwards: the file itself is never opened for writing. */
export function verifyBackup(file: string, verdict: Verdict, verifyAll: (folder: string) => void): void {
  const scratch = mkdtempSync(join(tmpdir(), 'cairn-verify-'));
  const folder = join(scratch, 'data');
  try {
    restoreFolder(file, folder);
    verifyAll(folder);
  } catch (error) {
    if (!isCairnError(error, 'store_corrupt')) throw error;
    verdict.problem({ runId: null, seq: null, message: error.message });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
