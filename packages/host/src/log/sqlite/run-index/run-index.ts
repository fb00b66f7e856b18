/** The run index in SQLite. */
import type { RunId, RunStatus } from '@cairn/protocol';
import { type InterruptRecord, MAX_CHILD_COUNT, type RunIndex } from '../../ports/run-index.ts';
import type { HeadCache } from '../append/head-cache.ts';
import type { Connection } from '../connection.ts';
import { runInterrupts } from '../forks/run-interrupts.ts';
import { query } from '../query.ts';
import { rebuild } from '../rebuild.ts';
import type { ListedRuns } from './listed-runs.ts';
import { pendingInterrupts } from './pending-interrupts.ts';
import { RunList } from './run-list.ts';
import type { TenantBytes } from './tenant-usage.ts';

interface RunIndexPorts extends Connection {
  readonly heads: HeadCache;
  readonly listed: ListedRuns;
  readonly usage: TenantBytes;
}

export function sqliteRunIndex({ db, writer, read, heads, listed, usage }: RunIndexPorts): RunIndex {
  const inbox = runInterrupts(db);
  const shown = query<[shown: RunStatus]>(db, 'SELECT shown FROM runs WHERE id = ?');
  const shownOf = (runIds: readonly RunId[]): ReadonlyMap<RunId, RunStatus> =>
    new Map(runIds.flatMap((runId) => shown.all(runId).map(([status]) => [runId, status] as const)));
  const children = query<[count: number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 FROM runs INDEXED BY runs_by_parent WHERE parent = ? LIMIT ${MAX_CHILD_COUNT})`,
  );
  const childCounts = (runIds: readonly RunId[]): ReadonlyMap<RunId, number> =>
    new Map(runIds.map((runId) => [runId, children.get(runId)?.[0] ?? 0] as const).filter(([, count]) => count > 0));
  const runs = new RunList(db);
  const pending = pendingInterrupts(db);
  const interruptsOf = (runId: RunId): readonly InterruptRecord[] => {
    const entry = heads.get(runId);
    return entry === null ? [] : inbox(runId, entry.stretches);
  };
  return {
    list: async (page) => read(() => runs.page(page)),
    shown: async (runIds) => read(() => shownOf(runIds)),
    childCounts: async (runIds) => read(() => childCounts(runIds)),
    interrupts: async (runId) => read(() => interruptsOf(runId)),
    pending: async (page) => read(() => pending(page)),
    tenantLogBytes: async (tenant) => read(() => usage.of(tenant)),
    rebuild: async () => rebuild(db, { writer, heads, listed }),
  };
}
