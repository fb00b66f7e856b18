/** Retention in SQLite: what a purge would take. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { Retention, SizePage } from '../../ports/retention.ts';
import type { HeadCache } from '../append/head-cache.ts';
import { RUN_COLUMNS, type RunColumns, recordOf } from '../columns.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import { ROW_BYTES } from '../run-index/tenant-usage.ts';

export function sqliteRetention({ db, read }: Connection, heads: HeadCache): Retention {
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
