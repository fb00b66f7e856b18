/** Flushes the WAL in Node's thread pool, so that the event loop continues while the disk works. */
import { closeSync, fdatasync, openSync } from 'node:fs';
import type { Flush } from './group-commit.ts';

/** The file exists from the first use of the database until its last connection closes. */
export function walFlush(file: string): { readonly flush: Flush; close(): void } {
  // Opened now, so that a lack of file handles fails at open. Some systems flush only for writable handles.
  const wal = openSync(file, 'r+');
  return { flush: (done) => fdatasync(wal, done), close: () => closeSync(wal) };
}
