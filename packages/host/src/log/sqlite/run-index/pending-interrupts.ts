/** Open interrupts of a tenant, oldest first, from an index that has only those of its own runs. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { parseListCursor } from '../../errors.ts';
import type { PendingPage, PendingQuery } from '../../ports/run-index.ts';
import { INTERRUPT_COLUMNS, type InterruptColumns, interruptOf } from '../columns.ts';
import { query } from '../query.ts';

export function pendingInterrupts(db: DatabaseSync): (query: PendingQuery) => PendingPage {
  const pending = query<[place: number, runId: RunId, workflowId: string, ...InterruptColumns]>(
    db,
    `SELECT interrupts.place, runs.id, runs.workflow, ${INTERRUPT_COLUMNS}
       FROM interrupts INDEXED BY interrupts_pending CROSS JOIN runs ON runs.key = interrupts.run
       WHERE interrupts.tenant = ? AND interrupts.open = 1 AND interrupts.place > ?
       ORDER BY interrupts.place LIMIT ?`,
  );
  return ({ tenant, limit, cursor }) => {
    const found = pending.all(tenant, parseListCursor(cursor) ?? 0, limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      interrupts: page.map(([, runId, workflowId, ...columns]) => ({ ...interruptOf(runId, columns), workflowId })),
      nextCursor: found.length > limit && last !== undefined ? String(last[0]) : null,
    };
  };
}
