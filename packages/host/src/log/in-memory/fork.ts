/** Makes forks in memory. */
import { admit, type GuardQueries } from '../admit.ts';
import { checkFork, forkedHead, forkedIndex, neededBefore } from '../admit-fork.ts';
import { contextTaken, forkContextTaken } from '../errors.ts';
import { reindex } from '../fold-run-index.ts';
import type { Append, ForkRun } from '../ports/event-log.ts';
import { isTombstone, type Row } from '../ports/rows.ts';
import { sourcePurged } from '../ports/run-purged.ts';
import { checkRecords } from './idempotency.ts';
import { allRows, rowAt, type StoredRun, stretchesOf } from './stored-run.ts';
import { idempotencyId, type Tables } from './tables.ts';

/**
 * Checks everything. Returns the function that makes the fork, which throws nothing and returns the append of its first
 * own rows.
 */
export function fork(tables: Tables, guards: GuardQueries, run: ForkRun): () => Append | null {
  const runs = tables.runs();
  const { runId, contextId, tenant, originRunId, idempotency = [] } = run;
  const { sourceRunId, fromSeq } = run.fork;
  const source = runs.get(sourceRunId) ?? null;
  const owners = source === null ? 0 : stretchesOf(source).length;
  if (tables.purged.get(sourceRunId)?.run.tenant === tenant) throw sourcePurged(run.fork);
  if (source !== null && source.head.record.tenant === tenant && isInPurgedTree(tables, source))
    throw sourcePurged(run.fork);
  const head = checkFork(run, { source: source?.head ?? null, owners, isKnown: runs.has(runId) });
  const others = (tables.contexts.get(contextId) ?? []).map((other) => other.head.record);
  if (others.some((record) => record.tenant !== tenant)) throw contextTaken(run);
  if (others.some((record) => record.originRunId === originRunId)) throw forkContextTaken(run);
  checkRecords(tables, idempotency);
  const last = source === null ? undefined : rowAt(source, fromSeq - 1);
  const needed = source === null ? [] : before(source, neededBefore(run.fork));
  for (const row of needed) if (isTombstone(row)) throw sourcePurged(run.fork);
  const cut = last === undefined || source === null ? null : reindex(head.record, before(source, fromSeq));
  const index = forkedIndex(run, head, cut);
  const interrupts = new Map(
    [...(cut?.interrupts ?? [])].map(([id, record]) => [id, index.open.get(id) ?? { ...record, runId }]),
  );
  const start = forkedHead(run, index, last ?? null);
  const { rows = [] } = run;
  const first = rows.length === 0 ? null : { runId, rows, at: fromSeq };
  if (first !== null) admit(first, start, tables.cursor, guards);
  return () => {
    tables.add({ place: tables.nextPlace(), head: start, rows: [], source, interrupts });
    tables.interrupts.push(...index.open.values());
    for (const { record } of idempotency) {
      tables.idempotency.set(idempotencyId(record), record);
      tables.requestRuns.set(idempotencyId(record), runId);
    }
    return first;
  };
}

function isInPurgedTree(tables: Tables, { head }: StoredRun): boolean {
  for (let above = head.record.parentRunId; above !== null; ) {
    if (tables.purged.has(above)) return true;
    above = tables.runs().get(above)?.head.record.parentRunId ?? null;
  }
  return false;
}

function* before(run: StoredRun, seq: number): Iterable<Row> {
  for (const row of allRows(run)) {
    if (row.seq >= seq) return;
    yield row;
  }
}
