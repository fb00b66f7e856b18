/** Retention in SQLite. Every write is a small transaction of its own. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { Retention, SizePage } from '../../ports/retention.ts';
import type { HeadCache } from '../append/head-cache.ts';
import type { BlobTables } from '../blobs/blob-tables.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from '../columns.ts';
import type { Checkpointer } from '../commit/wal-checkpoint.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import { ROW_BYTES, type TenantUsage } from '../run-index/tenant-usage.ts';
import { freeSpace } from './free-space.ts';
import { Purger, STEP_ROWS } from './purge-run.ts';

interface RetentionPorts extends Connection {
  readonly heads: HeadCache;
  readonly usage: TenantUsage;
  readonly blobs: BlobTables;
  readonly checkpointer: Checkpointer;
}

export function sqliteRetention({ db, writer, read, heads, usage, blobs, checkpointer }: RetentionPorts): Retention {
  const purger = new Purger(db, { heads, usage, blobs });
  const nextGroup = query<[tenant: string, workflowId: string]>(
    db,
    `SELECT tenant, workflow FROM runs INDEXED BY runs_by_workflow
       WHERE (tenant, workflow) > (?, ?) ORDER BY tenant, workflow LIMIT 1`,
  );
  const children = query<RunColumns>(
    db,
    `SELECT ${RUN_COLUMNS} FROM runs INDEXED BY runs_by_parent
       WHERE parent = ? AND key > coalesce((SELECT key FROM runs WHERE id = ?), 0) ORDER BY key LIMIT ?`,
  );
  const unfinished = query<[id: RunId]>(db, 'SELECT id FROM purged_runs WHERE unfinished = 1 ORDER BY key LIMIT ?');
  const finish = db.prepare('UPDATE purged_runs SET unfinished = 0 WHERE id = ?');
  const forks = query<RunColumns>(
    db,
    `SELECT ${RUN_COLUMNS} FROM runs WHERE key IN (
         SELECT run FROM shared_rows WHERE owner = ?
         UNION SELECT key FROM runs INDEXED BY runs_with_source WHERE fork_source = ? AND ended_at IS NULL
       ) ORDER BY ended_at IS NOT NULL, key LIMIT ?`,
  );
  const forksOf = (runId: RunId, limit: number) => {
    const entry = heads.get(runId);
    return entry === null ? [] : forks.all(entry.key, runId, limit).map((columns) => recordOf(columns));
  };
  const sizeOf = sizes(db, heads);
  const space = freeSpace(db);
  return {
    nextGroup: async (after) =>
      read(() => {
        const [tenant, workflowId] = nextGroup.get(after?.tenant ?? '', after?.workflowId ?? '') ?? [];
        return tenant === undefined || workflowId === undefined ? null : { tenant, workflowId };
      }),
    children: async (parentRunId, after, limit) =>
      read(() => children.all(parentRunId, after, limit).map((columns) => recordOf(columns))),
    forks: async (runId, limit) => read(() => forksOf(runId, limit)),
    size: async (runId, afterSeq) => read(() => sizeOf(runId, afterSeq)),
    retire: (runId, at) => writer.submit(purger.retirement(runId, at)),
    purgeSome: (runId) => writer.submit({ rows: STEP_ROWS, bytes: 0, apply: () => purger.purgeSome(runId) }),
    finish: (runId) => writer.submit({ rows: 1, bytes: 0, apply: () => void finish.run(runId) }),
    unfinished: async (limit) => read(() => unfinished.all(limit).map(([id]) => id)),
    releaseSome: () => writer.submit({ rows: STEP_ROWS, bytes: 0, apply: () => space.releaseSome() }),
    shrink: () => checkpointer.now(),
  };
}

/** Rows of one page: their sizes are read from the rows' headers, about 1 ms. */
const SIZE_PAGE = 1_000;

function sizes(db: DatabaseSync, heads: HeadCache): (runId: RunId, afterSeq: number) => SizePage {
  const page = query<[events: number, bytes: number | null, last: number | null]>(
    db,
    `SELECT count(*), sum(bytes), max(seq) FROM
       (SELECT seq, ${ROW_BYTES} AS bytes FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ${SIZE_PAGE})`,
  );
  return (runId, afterSeq) => {
    const entry = heads.get(runId);
    const [events, bytes, last] = (entry === null ? undefined : page.get(entry.key, afterSeq)) ?? [0, 0, null];
    return { events, bytes: bytes ?? 0, nextAfter: events < SIZE_PAGE ? null : last };
  };
}
