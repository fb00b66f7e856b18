/** Purges in SQLite. Every write is a small transaction of its own. */
import type { RunId } from '@cairn/protocol';
import type { Purges } from '../../ports/purges.ts';
import type { HeadCache } from '../append/head-cache.ts';
import type { BlobTables } from '../blobs/blob-tables.ts';
import type { Checkpointer } from '../commit/wal-checkpoint.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import type { TenantBytes } from '../run-index/tenant-usage.ts';
import { freeSpace } from './free-space.ts';
import { Purger, STEP_ROWS } from './purge-run.ts';

interface PurgesPorts extends Connection {
  readonly heads: HeadCache;
  readonly usage: TenantBytes;
  readonly blobs: BlobTables;
  readonly checkpointer: Checkpointer;
}

export function sqlitePurges({ db, writer, read, values, heads, usage, blobs, checkpointer }: PurgesPorts): Purges {
  const purger = new Purger(db, { heads, usage, blobs, values });
  const unfinished = query<[id: RunId]>(db, 'SELECT id FROM purged_runs WHERE unfinished = 1 ORDER BY key LIMIT ?');
  const finish = db.prepare('UPDATE purged_runs SET unfinished = 0 WHERE id = ?');
  const space = freeSpace(db);
  return {
    retire: (runId, at) => writer.submit(purger.retirement(runId, at)),
    purgeSome: (runId) => writer.submit({ rows: STEP_ROWS, bytes: 0, apply: () => purger.purgeSome(runId) }),
    finish: (runId) => writer.submit({ rows: 1, bytes: 0, apply: () => void finish.run(runId) }),
    unfinished: async (limit) => read(() => unfinished.all(limit).map(([id]) => id)),
    releaseSome: () => writer.submit({ rows: STEP_ROWS, bytes: 0, apply: () => space.releaseSome() }),
    shrink: () => checkpointer.now(),
  };
}
