/** Maps SQLite result codes to Cairn errors. Each names the file and a remedy for the operator. */
import { type CairnError, isCairnError, RetryableError, TerminalError } from '@cairn/protocol';

/** Primary result codes, and the one extended I/O code that means a full disk. */
const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;
const IOERR_SHMSIZE = 4874;

/** The extended result code of a `node:sqlite` error; null for any other error. */
function resultCode(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code : null;
}

/** True when another connection holds the requested lock. */
export const isBusy = (error: unknown): boolean => primary(error) === BUSY;

const primary = (error: unknown): number => (resultCode(error) ?? 0) & 0xff;

/** Converts a database error for the caller; Cairn errors pass through. */
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
    hint: 'Check the disk and the permissions of the data folder, then try again.',
    cause: error,
  });
}

/** After this error only the file itself can tell what it contains: see `GroupCommit`. */
export const flushFailed = (error: unknown, file: string): RetryableError =>
  new RetryableError('store_failed', {
    message: `The disk did not confirm what was written to ${file}: ${error instanceof Error ? error.message : String(error)}.`,
    hint: 'Check the disk, then restart the host. Until then it neither reads nor writes, because it cannot tell what is durable.',
    cause: error,
  });

export const corrupt = (file: string, found: string, cause?: unknown): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The file ${file} is damaged or not a database: ${found}.`,
    hint: 'Stop the host, keep a copy of the data folder, and restore the folder from a backup.',
    cause,
  });
