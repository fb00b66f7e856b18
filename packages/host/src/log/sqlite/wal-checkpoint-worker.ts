/** The thread that copies the WAL into the database, so that the event loop never waits for it. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread is asked: to copy the whole WAL, or to end. */
export type CheckpointRequest = 'copy' | 'close';

export type CheckpointReply = { readonly done: true } | { readonly error: { readonly message: string } };

const port = parentPort;
if (port !== null) {
  const db = new DatabaseSync(workerData as string, { timeout: 5_000, enableForeignKeyConstraints: false });
  db.exec('PRAGMA synchronous = FULL');
  // Nobody writes or reads meanwhile, so that PASSIVE copies all of it, and the writer itself begins the WAL anew. RESTART
  // would do that for it, which to the writer looks like a change by somebody else.
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
