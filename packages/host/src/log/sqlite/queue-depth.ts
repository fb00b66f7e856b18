/** Counts active runs without reading ended ones, which are the majority. */
import type { DatabaseSync } from 'node:sqlite';
import { isTerminalStatus, runStatuses } from '@cairn/protocol';
import type { QueueDepth } from '../ports/queue.ts';
import { query } from './query.ts';

/** As SQL literals. Running runs are not in the index by status. */
const restingStatuses = runStatuses
  .filter((status) => status !== 'running' && !isTerminalStatus(status))
  .map((status) => `'${status}'`)
  .join(', ');

/** Each count uses one index: resting runs by status, running ones by lease holder or by wake time. */
export function queueDepth(db: DatabaseSync): (now: number) => QueueDepth {
  const count = (sql: string) => query<[runs: number]>(db, `SELECT count(*) FROM runs WHERE ${sql}`);
  const resting = count(`tenant = ? AND status IN (${restingStatuses}) AND status <> 'running'`);
  const imported = count(`imported_at IS NOT NULL AND status IN (${restingStatuses})`);
  const held = count("owner IS NOT NULL AND status = 'running'");
  const waking = count("owner IS NULL AND wake_at IS NOT NULL AND status = 'running'");
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
    const atRest = [...tenants()].reduce((sum, tenant) => sum + runsOf(resting.get(tenant)), 0);
    const going = runsOf(held.get()) + runsOf(waking.get());
    return { active: atRest - runsOf(imported.get()) + going, due: runsOf(overdue.get(now)) };
  };
}

const runsOf = (columns: [runs: number] | undefined): number => columns?.[0] ?? 0;
