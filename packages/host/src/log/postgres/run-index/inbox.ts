/** The interrupts of runs, and those of a tenant that wait. */
import type { RunId } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import type { InterruptRecord, PendingPage, PendingQuery } from '../../ports/run-index.ts';
import { INTERRUPT_COLUMNS, type InterruptColumns, interruptOf } from '../../run-columns.ts';
import type { Queries } from '../database.ts';

/** Every interrupt of a run, in the order in which they were asked. A fork also knows those closed before its cut. */
export async function interruptsOf(queries: Queries, runId: RunId): Promise<readonly InterruptRecord[]> {
  const own = await queries.rows<InterruptColumns>(
    `SELECT ${INTERRUPT_COLUMNS} FROM cairn.interrupts AS interrupts
       WHERE run = (SELECT key FROM cairn.runs WHERE id = $1::text) ORDER BY place`,
    [runId],
  );
  const shared = await queries.rows<InterruptColumns>(
    `SELECT ${INTERRUPT_COLUMNS} FROM cairn.runs r JOIN cairn.shared_rows s ON s.run = r.key
       JOIN cairn.interrupts AS interrupts ON interrupts.run = s.owner AND interrupts.seq >= s.from_seq
         AND interrupts.seq < s.through WHERE r.id = $1::text`,
    [runId],
  );
  const found = own.map((columns) => interruptOf(runId, columns));
  if (shared.length === 0) return found;
  const known = new Set(found.map(({ interruptId }) => interruptId));
  for (const columns of shared) {
    // What was open at the cut is among the run's own.
    const interrupt = { ...interruptOf(runId, columns), open: false, votes: [] };
    if (!known.has(interrupt.interruptId)) found.push(interrupt);
  }
  return found.sort((a, b) => a.seq - b.seq);
}

export async function pending(queries: Queries, { tenant, limit, cursor }: PendingQuery): Promise<PendingPage> {
  const found = await queries.rows<[place: number, runId: RunId, workflowId: string, ...InterruptColumns]>(
    `SELECT interrupts.place, runs.id, runs.workflow, ${INTERRUPT_COLUMNS}
       FROM cairn.interrupts AS interrupts JOIN cairn.runs AS runs ON runs.key = interrupts.run
       WHERE interrupts.tenant = $1::text AND interrupts.open = 1 AND interrupts.place > $2::bigint
       ORDER BY interrupts.place LIMIT $3::bigint`,
    [tenant, parseListCursor(cursor) ?? 0, limit + 1],
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    interrupts: page.map(([, runId, workflowId, ...columns]) => ({ ...interruptOf(runId, columns), workflowId })),
    nextCursor: found.length > limit && last !== undefined ? String(last[0]) : null,
  };
}
