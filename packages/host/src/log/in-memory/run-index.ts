/** The in-memory run index, read from every run's head and inbox. */
import { parseListCursor } from '../errors.ts';
import { reindex, sameIndex } from '../fold-run-index.ts';
import { memoryChanges } from '../memory-changes.ts';
import type {
  PendingInterrupt,
  PendingPage,
  PendingQuery,
  Rebuilt,
  RunIndex,
  RunPage,
  RunQuery,
} from '../ports/run-index.ts';
import type { Tables } from './tables.ts';

export const inMemoryRunIndex = (tables: Tables): RunIndex => ({
  list: async (query) => list(tables, query),
  interrupts: async (runId) => [...(tables.runs().get(runId)?.interrupts.values() ?? [])],
  pending: async (query) => pending(tables, query),
  rebuild: async () => rebuild(tables),
});

function list(tables: Tables, { tenant, status, workflowId, tag, limit, cursor }: RunQuery): RunPage {
  const before = parseListCursor(cursor) ?? Number.POSITIVE_INFINITY;
  const matching = [...tables.runs().values()].reverse().filter(({ place, head: { record } }) => {
    if (place >= before || record.tenant !== tenant) return false;
    if (status !== undefined && record.status !== status) return false;
    if (workflowId !== undefined && record.workflowId !== workflowId) return false;
    return tag === undefined || record.tags.includes(tag);
  });
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = matching.length > limit && last !== undefined ? String(last.place) : null;
  return { runs: page.map((run) => run.head.record), nextCursor };
}

function pending(tables: Tables, { tenant, limit, cursor }: PendingQuery): PendingPage {
  tables.assertOpen();
  const found: PendingInterrupt[] = [];
  const start = parseListCursor(cursor) ?? 0;
  for (const [offset, { runId, interruptId }] of tables.interrupts.slice(start).entries()) {
    if (found.length === limit) return { interrupts: found, nextCursor: String(start + offset) };
    const { head, interrupts } = tables.run(runId);
    const one = interrupts.get(interruptId);
    if (one?.open === true && head.record.tenant === tenant) {
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
    const { tenant, importedAt } = run.head.record;
    if (importedAt === null) for (const change of memoryChanges(run.rows)) tables.memories.apply(tenant, change);
    const fresh = reindex(run.head.record, run.rows);
    if (!sameIndex(fresh, { record: run.head.record, interrupts: run.interrupts })) repaired += 1;
    run.head = { ...run.head, record: fresh.record, open: fresh.open };
    run.interrupts.clear();
    for (const [id, record] of fresh.interrupts) run.interrupts.set(id, record);
  }
  return { runs: runs.size, repaired };
}
