/** The thread that copies the WAL into the database, so that the event loop never waits for the copy. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Requests to the thread: copy the whole WAL, or exit. */
export type CheckpointRequest = 'copy' | 'close';

export type CheckpointReply = { readonly done: true } | { readonly error: { readonly message: string } };

const port = parentPort;
if (port !== null) {
  const db = new DatabaseSync(workerData as string, { timeout: 5_000, enableForeignKeyConstraints: false });
  db.exec('PRAGMA synchronous = FULL');
  // Appends are on hold during the last copy, so PASSIVE copies everything, and the writer itself restarts the WAL.
  // RESTART would restart it here, which the writer would see as a change by another connection.
  const copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');

  port.on('message', (request: CheckpointRequest) => {
    if (request === 'close') {
      db.close();
      port.close();
      return;
    }
    let reply: CheckpointReply = { done: true };
    try {
      copy.get();
    } catch (error) {
      reply = { error: { message: error instanceof Error ? error.message : String(error) } };
    }
    port.postMessage(reply);
  });
}
