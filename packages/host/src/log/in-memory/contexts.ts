/** Contexts in memory: their runs in the order of creation. */
import type { ContextId } from '@cairn/protocol';
import { parseListCursor } from '../errors.ts';
import type { ContextRunsPage, ContextRunsQuery, Contexts } from '../ports/contexts.ts';
import type { RunRecord } from '../ports/run-index.ts';
import { rowAt } from './stored-run.ts';
import type { Tables } from './tables.ts';

export const inMemoryContexts = (tables: Tables): Contexts => ({
  tenant: async (contextId) => {
    tables.assertOpen();
    return contextTenant(tables, contextId);
  },
  head: async (contextId) => {
    tables.assertOpen();
    const runs = tables.contexts.get(contextId) ?? [];
    return Math.max(0, ...runs.map((run) => rowAt(run, run.head.seq)?.cursor ?? 0));
  },
  runs: async (query) => runsOf(tables, query),
  oldestOpen: async (contextId) => {
    tables.assertOpen();
    const runs = tables.contexts.get(contextId) ?? [];
    return runs.find(({ head: { record } }) => isOpenRun(record))?.head.record ?? null;
  },
  interrupts: async (contextId, interruptId) => {
    tables.assertOpen();
    const runs = tables.contexts.get(contextId) ?? [];
    const found = runs.flatMap(({ interrupts }) => interrupts.get(interruptId) ?? []);
    return found.sort((a, b) => Number(b.open) - Number(a.open)).slice(0, 2);
  },
});

export const contextTenant = (tables: Tables, contextId: ContextId): string | null =>
  tables.contexts.get(contextId)?.[0]?.head.record.tenant ?? purgedTenant(tables, contextId);

export const purgedTenant = (tables: Tables, contextId: ContextId): string | null =>
  [...tables.purged.values()].find(({ run }) => run.contextId === contextId)?.run.tenant ?? null;

const isOpenRun = ({ endedAt, importedAt }: RunRecord): boolean => endedAt === null && importedAt === null;

function runsOf(tables: Tables, { contextId, parentRunId, isOpen, limit, cursor }: ContextRunsQuery): ContextRunsPage {
  tables.assertOpen();
  const before = parseListCursor(cursor) ?? Number.POSITIVE_INFINITY;
  const matching = (tables.contexts.get(contextId) ?? []).toReversed().filter(({ place, head: { record } }) => {
    if (place >= before || (parentRunId !== undefined && record.parentRunId !== parentRunId)) return false;
    return isOpen === undefined || isOpenRun(record);
  });
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = matching.length > limit && last !== undefined ? String(last.place) : null;
  return { runs: page.map(({ head }) => head.record), nextCursor };
}
