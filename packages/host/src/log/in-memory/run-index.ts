/** The in-memory run index, read from every run's head and inbox. */
import type { RunId, RunStatus } from '@cairn/protocol';
import { parseListCursor } from '../errors.ts';
import { asksNobody, reindex, sameIndex } from '../fold-run-index.ts';
import { memoryChanges } from '../memory-changes.ts';
import { isTombstone } from '../ports/rows.ts';
import {
  MAX_CHILD_COUNT,
  type PendingInterrupt,
  type PendingPage,
  type PendingQuery,
  type Rebuilt,
  type RunIndex,
  type RunPage,
  type RunQuery,
  type RunRecord,
} from '../ports/run-index.ts';
import { isWaiting, shownStatus } from '../shown-status.ts';
import { allRows, type StoredRun } from './stored-run.ts';
import type { Tables } from './tables.ts';

export const inMemoryRunIndex = (tables: Tables): RunIndex => ({
  list: async (query) => list(tables, query),
  shown: async (runIds) => {
    const runs = tables.runs();
    const shownOf = shownStatuses(tables);
    return new Map(
      runIds.flatMap((runId) => {
        const run = runs.get(runId);
        return run === undefined ? [] : [[runId, shownOf(run)] as const];
      }),
    );
  },
  childCounts: async (runIds) => {
    const counts = new Map<RunId, number>();
    const asked = new Set(runIds);
    for (const { head } of tables.runs().values()) {
      const { parentRunId } = head.record;
      if (parentRunId === null || !asked.has(parentRunId)) continue;
      counts.set(parentRunId, Math.min((counts.get(parentRunId) ?? 0) + 1, MAX_CHILD_COUNT));
    }
    return counts;
  },
  interrupts: async (runId) => [...(tables.runs().get(runId)?.interrupts.values() ?? [])],
  pending: async (query) => pending(tables, query),
  tenantLogBytes: async (tenant) => {
    tables.assertOpen();
    return tables.logBytes.get(tenant) ?? 0;
  },
  rebuild: async () => rebuild(tables),
});

function list(tables: Tables, query: RunQuery): RunPage {
  const { tenant, status, workflowId, tag, parentRunId, limit, cursor } = query;
  const before = parseListCursor(cursor) ?? Number.POSITIVE_INFINITY;
  const shownOf = shownStatuses(tables);
  const matching = [...tables.runs().values()].reverse().filter((run) => {
    const { record } = run.head;
    if (run.place >= before || record.tenant !== tenant) return false;
    if (status !== undefined && shownOf(run) !== status) return false;
    if (workflowId !== undefined && record.workflowId !== workflowId) return false;
    if (parentRunId === null && !isWithoutParent(tables, record)) return false;
    if (typeof parentRunId === 'string' && record.parentRunId !== parentRunId) return false;
    return tag === undefined || record.tags.includes(tag);
  });
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = matching.length > limit && last !== undefined ? String(last.place) : null;
  return { runs: page.map((run) => ({ ...run.head.record, shownStatus: shownOf(run) })), nextCursor };
}

/** A bundle may hold a run without the run that started it. */
function isWithoutParent(tables: Tables, { parentRunId, importedAt, tenant }: RunRecord): boolean {
  if (parentRunId === null) return true;
  return importedAt !== null && tables.runs().get(parentRunId)?.head.record.tenant !== tenant;
}

function shownStatuses(tables: Tables): (run: StoredRun) => RunStatus {
  const children = new Map<RunId, StoredRun[]>();
  for (const run of tables.runs().values()) {
    const { parentRunId, importedAt } = run.head.record;
    if (parentRunId === null || importedAt !== null) continue;
    const siblings = children.get(parentRunId) ?? [];
    children.set(parentRunId, siblings);
    siblings.push(run);
  }
  const shownOf = ({ head: { record } }: StoredRun): RunStatus => {
    const below = record.importedAt === null ? (children.get(record.runId) ?? []) : [];
    return shownStatus(record.status, below.map(shownOf).find(isWaiting) ?? null);
  };
  return shownOf;
}

function pending(tables: Tables, { tenant, limit, cursor }: PendingQuery): PendingPage {
  tables.assertOpen();
  const found: PendingInterrupt[] = [];
  const start = parseListCursor(cursor) ?? 0;
  for (const [offset, { runId, interruptId }] of tables.interrupts.slice(start).entries()) {
    if (found.length === limit) return { interrupts: found, nextCursor: String(start + offset) };
    const { head, interrupts } = tables.run(runId);
    const one = interrupts.get(interruptId);
    if (one?.open === true && head.record.tenant === tenant && !asksNobody(head.record)) {
      found.push({ ...one, workflowId: head.record.workflowId });
    }
  }
  return { interrupts: found, nextCursor: null };
}

function rebuild(tables: Tables): Rebuilt {
  const runs = tables.runs();
  let repaired = 0;
  tables.memories.clear();
  for (const run of runs.values()) {
    const { tenant } = run.head.record;
    if (!asksNobody(run.head.record))
      for (const change of memoryChanges(run.rows)) tables.memories.apply(tenant, change);
    // A fork whose shared rows were purged keeps the index that it had: it cannot be folded any more.
    if ([...allRows(run)].some(isTombstone)) continue;
    const fresh = reindex(run.head.record, allRows(run));
    if (!sameIndex(fresh, { record: run.head.record, interrupts: run.interrupts })) repaired += 1;
    run.head = { ...run.head, record: fresh.record, open: fresh.open };
    run.interrupts.clear();
    for (const [id, record] of fresh.interrupts) run.interrupts.set(id, record);
  }
  return { runs: runs.size, repaired };
}
