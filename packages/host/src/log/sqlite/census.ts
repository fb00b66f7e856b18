/** Counts the runs that have not ended without reading those that have, which are most. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isTerminalStatus, runStatuses } from '@cairn/protocol';
import type { Census } from '../ports/queue.ts';

/** As SQL writes them. Runs that run are in no index by status. */
const restingStatuses = runStatuses
  .filter((status) => status !== 'running' && !isTerminalStatus(status))
  .map((status) => `'${status}'`)
  .join(', ');

/** Each part by an index alone: resting runs by their status, running ones by who holds them or by the time they wait for. */
export function censusOf(db: DatabaseSync): (now: number) => Census {
  const resting = db.prepare(
    `SELECT count(*) AS n FROM runs WHERE tenant = ? AND status IN (${restingStatuses}) AND status <> 'running'`,
  );
  const imported = db.prepare(
    `SELECT count(*) AS n FROM runs WHERE imported_at IS NOT NULL AND status IN (${restingStatuses})`,
  );
  const nextTenant = db.prepare('SELECT min(tenant) AS tenant FROM runs WHERE tenant > ?');
  const held = db.prepare("SELECT count(*) AS n FROM runs WHERE owner IS NOT NULL AND status = 'running'");
  const waking = db.prepare(
    "SELECT count(*) AS n FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL AND status = 'running'",
  );
  const overdue = db.prepare('SELECT count(*) AS n FROM runs WHERE owner IS NULL AND wake_at <= ?');
  const count = (statement: StatementSync, ...values: (string | number)[]): number =>
    Number(statement.get(...values)?.n);

  function* tenants(): Generator<string> {
    let tenant = nextTenant.get('')?.tenant;
    while (typeof tenant === 'string') {
      yield tenant;
      tenant = nextTenant.get(tenant)?.tenant;
    }
  }

  return (now) => {
    const atRest = [...tenants()].reduce((sum, tenant) => sum + count(resting, tenant), 0);
    return { active: atRest - count(imported) + count(held) + count(waking), due: count(overdue, now) };
  };
}
