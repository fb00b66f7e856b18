/** In-memory purges. A run is purged in two steps: first the runs below it are retired, then its content goes. */
import type { RunId } from '@cairn/protocol';
import { forkGoesOn, type PurgeStep, type Purges, stillActive } from '../ports/purges.ts';
import { bytesOf } from '../ports/row-bytes.ts';
import { isTombstone } from '../ports/rows.ts';
import { forksOf, records } from './retention.ts';
import type { RetiredRun, Tables } from './tables.ts';

export const inMemoryPurges = (tables: Tables): Purges => ({
  retire: async (runId, at) => {
    const run = tables.runs().get(runId);
    if (run === undefined) return;
    const { endedAt, importedAt } = run.head.record;
    if (endedAt === null && importedAt === null) throw stillActive(run.head.record);
    for (const id of treeOf(tables, runId)) {
      const [fork] = forksOf(tables, id);
      if (fork !== undefined && fork.endedAt === null) throw forkGoesOn(runId, fork.runId);
    }
    retire(tables, runId, at);
  },
  purgeSome: async (runId) => purgeSome(tables, runId),
  finish: async (runId) => {
    const retired = tables.purged.get(runId);
    if (retired !== undefined) retired.isFinished = true;
  },
  unfinished: async (limit) => {
    tables.assertOpen();
    return [...tables.purged]
      .filter(([, { isFinished }]) => !isFinished)
      .map(([runId]) => runId)
      .slice(0, limit);
  },
  releaseSome: async () => ({ bytes: 0, isReleasable: false }),
  shrink: async () => {},
});

/** The run and all runs below it. */
function treeOf(tables: Tables, runId: RunId): readonly RunId[] {
  const below = records(tables).filter(({ parentRunId }) => parentRunId === runId);
  return [runId, ...below.flatMap((record) => treeOf(tables, record.runId))];
}

function retire(tables: Tables, runId: RunId, at: number): void {
  const stored = tables.run(runId);
  const { head, rows } = stored;
  const { tenant, contextId, originRunId, parentRunId, fork } = head.record;
  const identity = { runId, tenant, contextId, originRunId, parentRunId, fork };
  tables.purged.set(runId, {
    run: { ...identity, purgedAt: at, seq: head.seq, hash: head.hash },
    rows,
    isFinished: false,
  });
  tables.runs().delete(runId);
  const isOther = (row: { readonly runId: RunId }): boolean => row.runId !== runId;
  const others = (tables.contexts.get(contextId) ?? []).filter((run) => run !== stored);
  if (others.length === 0) tables.contexts.delete(contextId);
  else tables.contexts.set(contextId, others);
  tables.rows.splice(0, tables.rows.length, ...tables.rows.filter(isOther));
  tables.interrupts.splice(0, tables.interrupts.length, ...tables.interrupts.filter(isOther));
}

const nothing: PurgeStep = { events: 0, bytes: 0, memories: 0, retired: [], isDone: false };

function purgeSome(tables: Tables, runId: RunId): PurgeStep {
  tables.assertOpen();
  const retired = tables.purged.get(runId);
  if (retired === undefined) return { ...nothing, isDone: true };
  const below = records(tables).filter(
    ({ parentRunId, endedAt, importedAt }) => parentRunId === runId && (endedAt !== null || importedAt !== null),
  );
  for (const record of below) retire(tables, record.runId, retired.run.purgedAt);
  if (below.length > 0) return { ...nothing, retired: below.map((record) => record.runId) };
  return { ...nothing, ...removeContent(tables, retired), isDone: true };
}

function removeContent(tables: Tables, retired: RetiredRun): Pick<PurgeStep, 'events' | 'bytes' | 'memories'> {
  const { runId, tenant } = retired.run;
  const bodies = retired.rows.filter((row) => !isTombstone(row));
  const bytes = bytesOf(bodies);
  tables.logBytes.set(tenant, (tables.logBytes.get(tenant) ?? 0) - bytes);
  // In place, because forks have the same rows.
  for (const [i, row] of retired.rows.entries()) retired.rows[i] = { ...row, payload: '', task: null };
  tables.checkpoints.delete(runId);
  tables.blobs.forget(tenant, runId, retired.run.purgedAt);
  for (const [id, of] of tables.requestRuns) {
    if (of !== runId) continue;
    tables.idempotency.delete(id);
    tables.requestRuns.delete(id);
  }
  return { events: bodies.length, bytes, memories: tables.memories.forgetDropped(runId) };
}
