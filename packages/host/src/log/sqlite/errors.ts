/** SQLite's result codes as Cairn's errors: each names the file and what an operator can do. */
import { type CairnError, isCairnError, RetryableError, TerminalError } from '@cairn/protocol';

/** Primary result codes, and the one extended code that means a full disk although it is filed under I/O. */
const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;
const IOERR_SHMSIZE = 4874;

/** The extended result code of an error of `node:sqlite`; null for any other error. */
function resultCode(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code : null;
}

/** True when another connection holds a lock that was asked for. */
export const isBusy = (error: unknown): boolean => primary(error) === BUSY;

const primary = (error: unknown): number => (resultCode(error) ?? 0) & 0xff;

/** What an error of the database means to a caller; errors that are already ours pass through. */
export function storeError(error: unknown, file: string): CairnError {
  if (isCairnError(error)) return error;
  const said = error instanceof Error ? error.message : String(error);
  if (primary(error) === FULL || resultCode(error) === IOERR_SHMSIZE) {
    return new RetryableError('store_full', {
      message: `No space is left to write ${file} (${said}).`,
      hint: 'Free space on its disk. The host goes on by itself once there is room.',
      cause: error,
    });
  }
  if (primary(error) === CORRUPT || primary(error) === NOT_A_DATABASE) return corrupt(file, said, error);
  return new RetryableError('store_failed', {
    message: `The database ${file} failed: ${said}.`,
    hint: 'Look at the disk and the permissions of the data folder, then try again.',
    cause: error,
  });
}

/** After this only the file itself can tell what is in it: see `GroupCommit`. */
export const flushFailed = (error: unknown, file: string): RetryableError =>
  new RetryableError('store_failed', {
    message: `The disk did not confirm what was written to ${file}: ${error instanceof Error ? error.message : String(error)}.`,
    hint: 'Look at the disk, then start the host again. Until then it neither reads nor writes: nobody could tell what lasts.',
    cause: error,
  });

export const corrupt = (file: string, found: string, cause?: unknown): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The file ${file} is damaged or not a database: ${found}.`,
    hint: 'Stop the host, keep a copy of the data folder, and restore the folder from a backup.',
    cause,
  });
