/** Contexts in SQLite. */
import type { Contexts } from '../../ports/contexts.ts';
import type { Connection } from '../connection.ts';
import { contextTenants } from '../context-tenants.ts';
import type { ContextReader } from './context-reader.ts';
import { ContextRuns } from './context-runs.ts';

export function sqliteContexts({ db, read }: Connection, reader: ContextReader): Contexts {
  const tenantOf = contextTenants(db);
  const runs = new ContextRuns(db);
  return {
    tenant: async (contextId) => read(() => tenantOf(contextId)),
    head: async (contextId) => read(() => reader.head(contextId)),
    runs: async (page) => read(() => runs.page(page)),
    oldestOpen: async (contextId) => read(() => runs.oldestOpen(contextId)),
    interrupts: async (contextId, interruptId) => read(() => runs.interrupts(contextId, interruptId)),
  };
}
