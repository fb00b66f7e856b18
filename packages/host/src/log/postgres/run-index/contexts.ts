/** Contexts in Postgres: their tenants, heads, runs and questions. */
import type { ContextId, RunId } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import type { ContextRunsPage, ContextRunsQuery, Contexts } from '../../ports/contexts.ts';
import type { InterruptRecord } from '../../ports/run-index.ts';
import {
  INTERRUPT_COLUMNS,
  type InterruptColumns,
  interruptOf,
  RUN_COLUMNS,
  type RunColumns,
  recordOf,
} from '../../run-columns.ts';
import { contextTenant } from '../commit/facts.ts';
import type { Queries, Value } from '../database.ts';
import type { Readers } from '../readers.ts';
import { contextHead } from '../rows/read-rows.ts';

export const postgresContexts = (readers: Readers): Contexts => ({
  tenant: async (contextId) => {
    const tenant = await contextTenant(readers.of(contextId), contextId);
    if (tenant !== null) readers.tenants.note(contextId, tenant);
    return tenant;
  },
  head: (contextId) => contextHead(readers.of(contextId), contextId),
  runs: (query) => runsOf(readers.of(query.contextId), query),
  oldestOpen: async (contextId) => {
    const [found] = await readers.of(contextId).rows<RunColumns>(
      `SELECT ${RUN_COLUMNS} FROM cairn.runs AS runs
         WHERE context = $1::text AND ended_at IS NULL AND imported_at IS NULL ORDER BY key LIMIT 1`,
      [contextId],
    );
    return found === undefined ? null : recordOf(found);
  },
  interrupts: (contextId, interruptId) => interruptsOf(readers.of(contextId), contextId, interruptId),
});

async function runsOf(queries: Queries, query: ContextRunsQuery): Promise<ContextRunsPage> {
  const { contextId, parentRunId, isOpen, limit, cursor } = query;
  const values: Value[] = [contextId, parseListCursor(cursor) ?? Number.MAX_SAFE_INTEGER, limit + 1];
  const filters: string[] = [];
  if (parentRunId === null) filters.push('AND parent IS NULL');
  if (typeof parentRunId === 'string') {
    values.push(parentRunId);
    filters.push('AND parent = $4::text');
  }
  if (isOpen === true) filters.push('AND ended_at IS NULL AND imported_at IS NULL');
  const found = await queries.rows<RunColumns>(
    `SELECT ${RUN_COLUMNS} FROM cairn.runs AS runs WHERE context = $1::text AND key < $2::bigint ${filters.join(' ')}
       ORDER BY key DESC LIMIT $3::bigint`,
    values,
  );
  const page = found.slice(0, limit);
  const nextCursor = found.length > limit ? String(page.at(-1)?.[0] ?? '') : null;
  return { runs: page.map(recordOf), nextCursor };
}

async function interruptsOf(
  queries: Queries,
  contextId: ContextId,
  interruptId: string,
): Promise<readonly InterruptRecord[]> {
  const found = await queries.rows<[runId: RunId, ...InterruptColumns]>(
    `SELECT runs.id, ${INTERRUPT_COLUMNS} FROM cairn.interrupts AS interrupts
       JOIN cairn.runs AS runs ON runs.key = interrupts.run
       WHERE interrupts.id = $1::text AND runs.context = $2::text ORDER BY interrupts.open DESC, interrupts.place LIMIT 2`,
    [interruptId, contextId],
  );
  return found.map(([runId, ...columns]) => interruptOf(runId, columns));
}
