/** Counts active runs without reading ended ones, which are the majority. */
import type { DatabaseSync } from 'node:sqlite';
import { isTerminalStatus, runStatuses } from '@cairn/protocol';
import type { QueueDepth } from '../../ports/queue.ts';
import { query } from '../query.ts';

/** As SQL literals. */
const activeStatuses = runStatuses
  .filter((status) => !isTerminalStatus(status))
  .map((status) => `'${status}'`)
  .join(', ');

export function queueDepth(db: DatabaseSync): (now: number) => QueueDepth {
  const count = (sql: string) => query<[runs: number]>(db, `SELECT count(*) FROM runs WHERE ${sql}`);
  const active = count(`tenant = ? AND shown IN (${activeStatuses})`);
  const imported = count(`imported_at IS NOT NULL AND status IN (${activeStatuses})`);
  const overdue = count('owner IS NULL AND wake_at <= ?');
  const nextTenant = query<[tenant: string | null]>(db, 'SELECT min(tenant) FROM runs WHERE tenant > ?');

  function* tenants(): Generator<string> {
    let tenant = nextTenant.get('')?.[0] ?? null;
    while (tenant !== null) {
      yield tenant;
      tenant = nextTenant.get(tenant)?.[0] ?? null;
    }
  }

  return (now) => {
    const all = [...tenants()].reduce((sum, tenant) => sum + runsOf(active.get(tenant)), 0);
    return { active: all - runsOf(imported.get()), due: runsOf(overdue.get(now)) };
  };
}

const runsOf = (columns: [runs: number] | undefined): number => columns?.[0] ?? 0;
