/** The thread that marks long decisions in the database that nodes share, with a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { connect, Database } from '../../log/postgres/database.ts';
import { DecisionMemory } from './decision-memory.ts';
import { DecisionWatch, lookUntilStopped } from './decision-watch.ts';

export interface SharedWatchData {
  readonly url: string;
  /** The node, as the owner of its leases. */
  readonly owner: string;
  readonly kind: string;
  readonly shared: SharedArrayBuffer;
}

/** An unread mark is of no use after this time. */
const KEPT_MS = 86_400_000;

const { url, owner, kind, shared } = workerData as SharedWatchData;
const memory = new DecisionMemory(shared);
const pool = connect({ url, connections: 1 });
const database = new Database(pool);

async function keep(decision: readonly string[] | null): Promise<void> {
  if (decision === null) {
    await database.changed('DELETE FROM cairn.expiring WHERE kind = $1::text AND name = $2::text', [kind, owner]);
    return;
  }
  await database.changed(
    `INSERT INTO cairn.expiring (kind, name, owner, body, expires_at)
       VALUES ($1::text, $2::text, $2::text, $3::text, $4::double precision)
       ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at`,
    [kind, owner, JSON.stringify(decision), Date.now() + KEPT_MS],
  );
}

let keeping: Promise<void> = Promise.resolve();
const watch = new DecisionWatch(memory, (decision) => {
  // Without the database no decision is written either: a mark that is lost then says nothing.
  keeping = keep(decision).catch(() => undefined);
});
await database.rows('SELECT 1');
parentPort?.postMessage('ready');
await lookUntilStopped(memory, watch, () => keeping);
await keep(null).catch(() => undefined);
await pool.end();
