/** Reads what is left of purged runs. */
import type { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { contextTaken, runExists } from '../../errors.ts';
import type { ImportRun, PurgedRun, RunFork } from '../../ports/event-log.ts';
import { runPurged } from '../../ports/run-purged.ts';
import { forkOf } from '../columns.ts';
import { type Query, query } from '../query.ts';

export const PURGED_COLUMNS =
  'id, tenant, context, origin, parent, purged_at, seq, hash, fork_source, fork_seq, fork_mode';

export type PurgedColumns = [
  runId: RunId,
  tenant: string,
  contextId: ContextId,
  originRunId: RunId,
  parentRunId: RunId | null,
  purgedAt: number,
  seq: number,
  hash: string,
  forkSource: RunId | null,
  forkSeq: number | null,
  forkMode: RunFork['mode'] | null,
];

export function purgedOf(columns: PurgedColumns): PurgedRun {
  const [runId, tenant, contextId, originRunId, parentRunId, purgedAt, seq, hash, ...fork] = columns;
  return { runId, tenant, contextId, originRunId, parentRunId, purgedAt, seq, hash, fork: forkOf(...fork) };
}

export class PurgedRuns {
  readonly #run: Query<PurgedColumns>;
  readonly #tenant: Query<[tenant: string]>;

  constructor(db: DatabaseSync) {
    this.#run = query(db, `SELECT ${PURGED_COLUMNS} FROM purged_runs WHERE id = ?`);
    this.#tenant = query(db, 'SELECT tenant FROM purged_runs WHERE context = ? LIMIT 1');
  }

  get(runId: RunId): PurgedRun | null {
    const found = this.#run.get(runId);
    return found === undefined ? null : purgedOf(found);
  }

  tenantOf(contextId: string): string | null {
    return this.#tenant.get(contextId)?.[0] ?? null;
  }
}

/** The cursor of the last row ever written. Cursors of purged rows are never given out again. */
export function cursorEnd(db: DatabaseSync): () => number {
  const end = query<[cursor: number]>(
    db,
    `SELECT max(coalesce((SELECT max(cursor) FROM events), 0), coalesce((SELECT max(cursor) FROM tombstones), 0))`,
  );
  return () => end.get()?.[0] ?? 0;
}

/** Refuses to import what was purged here, and what belongs to a context of another tenant. */
export function importGuard(db: DatabaseSync): (run: ImportRun) => void {
  const purged = new PurgedRuns(db);
  const foreign = query<[one: number]>(db, 'SELECT 1 FROM runs WHERE context = ? AND tenant <> ? LIMIT 1');
  return (run) => {
    const { runId, contextId, tenant } = run;
    const left = purged.get(runId);
    if (left !== null) throw left.tenant === tenant ? runPurged(left) : runExists(runId);
    const isTaken = foreign.get(contextId, tenant) !== undefined || (purged.tenantOf(contextId) ?? tenant) !== tenant;
    if (isTaken) throw contextTaken(run);
  };
}
