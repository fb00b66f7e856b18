/** The run index in Postgres: lists, inbox and the runs of contexts. */
import type { ContextId, RunId, RunStatus } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import {
  type ContextRunsPage,
  type ContextRunsQuery,
  type InterruptRecord,
  MAX_CHILD_COUNT,
  type RunIndex,
} from '../../ports/run-index.ts';
import {
  INTERRUPT_COLUMNS,
  type InterruptColumns,
  interruptOf,
  RUN_COLUMNS,
  type RunColumns,
  recordOf,
} from '../../run-columns.ts';
import type { Database, Queries, Value } from '../database.ts';
import type { HeadCache } from '../heads.ts';
import { encodeJson } from '../text-codec.ts';
import { interruptsOf, pending } from './inbox.ts';
import { rebuild } from './rebuild.ts';
import { runPage } from './run-list.ts';

export function postgresRunIndex(database: Database, heads: HeadCache): RunIndex {
  return {
    list: (query) => runPage(database, query),
    shown: async (runIds) => {
      const found = await database.rows<[RunId, RunStatus]>(
        'SELECT id, shown FROM cairn.runs WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))',
        [encodeJson(runIds)],
      );
      const shown = new Map(found);
      return new Map(runIds.flatMap((runId) => (shown.has(runId) ? [[runId, shown.get(runId) as RunStatus]] : [])));
    },
    childCounts: async (runIds) => {
      const found = await database.rows<[RunId, number]>(
        `SELECT id, (SELECT count(*) FROM (SELECT 1 FROM cairn.runs WHERE parent = ids.id LIMIT ${MAX_CHILD_COUNT}) AS below)::integer
           FROM jsonb_array_elements_text($1::text::jsonb) AS ids (id)`,
        [encodeJson(runIds)],
      );
      return new Map(found.filter(([, count]) => count > 0));
    },
    interrupts: (runId) => interruptsOf(database, runId),
    pending: (query) => pending(database, query),
    ofContext: (query) => ofContext(database, query),
    oldestOpen: async (contextId) => {
      const [found] = await database.rows<RunColumns>(
        `SELECT ${RUN_COLUMNS} FROM cairn.runs AS runs
           WHERE context = $1::text AND ended_at IS NULL AND imported_at IS NULL ORDER BY key LIMIT 1`,
        [contextId],
      );
      return found === undefined ? null : recordOf(found);
    },
    asked: (contextId, interruptId) => asked(database, contextId, interruptId),
    tenantLogBytes: async (tenant) => {
      const [[bytes] = [0]] = await database.rows<[number]>(
        'SELECT coalesce(sum(log_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
        [tenant],
      );
      return bytes;
    },
    rebuild: () => rebuild(database, heads),
  };
}

async function ofContext(queries: Queries, query: ContextRunsQuery): Promise<ContextRunsPage> {
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

async function asked(queries: Queries, contextId: ContextId, interruptId: string): Promise<readonly InterruptRecord[]> {
  const found = await queries.rows<[runId: RunId, ...InterruptColumns]>(
    `SELECT runs.id, ${INTERRUPT_COLUMNS} FROM cairn.interrupts AS interrupts
       JOIN cairn.runs AS runs ON runs.key = interrupts.run
       WHERE interrupts.id = $1::text AND runs.context = $2::text ORDER BY interrupts.open DESC, interrupts.place LIMIT 2`,
    [interruptId, contextId],
  );
  return found.map(([runId, ...columns]) => interruptOf(runId, columns));
}
