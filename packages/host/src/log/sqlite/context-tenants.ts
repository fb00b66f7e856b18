/** Whose a context is: its tenant stays the same after all its runs were purged. */
import type { DatabaseSync } from 'node:sqlite';
import { query } from './query.ts';
import { PurgedRuns } from './retention/purged-runs.ts';

export function contextTenants(db: DatabaseSync): (contextId: string) => string | null {
  const tenants = query<[tenant: string]>(db, 'SELECT tenant FROM runs WHERE context = ? LIMIT 1');
  const purged = new PurgedRuns(db);
  return (contextId) => tenants.get(contextId)?.[0] ?? purged.tenantOf(contextId);
}
