/** Flushes the WAL on a thread of Node's pool: the event loop goes on while the disk works. */
import { closeSync, fdatasync, openSync } from 'node:fs';
import type { Flush } from './group-commit.ts';

/** The file is there from the first use of the database until its last connection is closed. */
export function walFlush(file: string): { readonly flush: Flush; close(): void } {
  // Now, so that a process that runs out of files is told when it opens the store. Some systems flush only for who may write.
  const wal = openSync(file, 'r+');
  return { flush: (done) => fdatasync(wal, done), close: () => closeSync(wal) };
}
