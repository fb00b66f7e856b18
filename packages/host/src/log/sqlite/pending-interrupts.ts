/** Open interrupts of a tenant, oldest first. A page scans a bounded number of the open interrupts of all tenants. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { parseListCursor } from '../errors.ts';
import type { PendingPage, PendingQuery } from '../ports/run-index.ts';
import { INTERRUPT_COLUMNS, type InterruptColumns, interruptOf } from './columns.ts';
import { query } from './query.ts';

const SCANNED = 2_000;

export function pendingInterrupts(db: DatabaseSync): (query: PendingQuery) => PendingPage {
  const pending = query<[place: number, runId: RunId, workflowId: string, ...InterruptColumns]>(
    db,
    `SELECT interrupts.place, runs.id, runs.workflow, ${INTERRUPT_COLUMNS}
       FROM interrupts CROSS JOIN runs ON runs.key = interrupts.run
       WHERE interrupts.open = 1 AND interrupts.place > ? AND interrupts.place <= ?
         AND runs.tenant = ? AND runs.imported_at IS NULL ORDER BY interrupts.place LIMIT ?`,
  );
  const lastScanned = query<[place: number]>(
    db,
    'SELECT place FROM interrupts WHERE open = 1 AND place > ? ORDER BY place LIMIT 1 OFFSET ?',
  );
  return ({ tenant, limit, cursor }) => {
    const after = parseListCursor(cursor) ?? 0;
    const through = lastScanned.get(after, SCANNED - 1)?.[0] ?? null;
    const found = pending.all(after, through ?? Number.MAX_SAFE_INTEGER, tenant, limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last !== undefined ? last[0] : through;
    return {
      interrupts: page.map(([, runId, workflowId, ...columns]) => ({ ...interruptOf(runId, columns), workflowId })),
      nextCursor: next === null ? null : String(next),
    };
  };
}
