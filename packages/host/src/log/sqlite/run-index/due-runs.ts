/** Finds the due runs without an owner. If there are more than asked for, each tenant gets its turn. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { tenantsInTurn } from '../../tenants-in-turn.ts';
import { query } from '../query.ts';

const UNHELD = 'owner IS NULL AND wake_at IS NOT NULL';

/** One index step for each tenant with a run that waits for time, however many runs it has. */
const EARLIEST_OF_TENANTS = `
  WITH RECURSIVE waiting (tenant) AS (
    SELECT min(tenant) FROM runs WHERE ${UNHELD}
    UNION ALL
    SELECT (SELECT min(tenant) FROM runs WHERE ${UNHELD} AND tenant > waiting.tenant) FROM waiting WHERE tenant IS NOT NULL
  )
  SELECT tenant, (SELECT min(wake_at) FROM runs WHERE ${UNHELD} AND tenant = waiting.tenant) AS at
  FROM waiting WHERE tenant IS NOT NULL AND at <= ? ORDER BY at, tenant LIMIT ?`;

export function dueRuns(db: DatabaseSync): (now: number, limit: number) => readonly RunId[] {
  const due = query<[id: RunId]>(
    db,
    'SELECT id FROM runs WHERE owner IS NULL AND wake_at <= ? ORDER BY wake_at, key LIMIT ?',
  );
  const tenants = query<[tenant: string, at: number]>(db, EARLIEST_OF_TENANTS);
  const dueOf = query<[id: RunId]>(
    db,
    'SELECT id FROM runs WHERE owner IS NULL AND tenant = ? AND wake_at <= ? ORDER BY wake_at, key LIMIT ?',
  );
  return (now, limit) => {
    if (limit < 1) return [];
    const longestWaiting = due.all(now, limit + 1);
    if (longestWaiting.length <= limit) return longestWaiting.map(([id]) => id);
    const found: { readonly tenant: string; readonly id: RunId }[] = [];
    for (const [tenant] of tenants.all(now, limit)) {
      for (const [id] of dueOf.all(tenant, now, limit)) found.push({ tenant, id });
    }
    return tenantsInTurn(found, ({ tenant }) => tenant, limit).map(({ id }) => id);
  };
}
