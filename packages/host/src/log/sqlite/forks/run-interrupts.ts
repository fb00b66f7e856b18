/** Every interrupt of a run. A fork also knows those that its source closed before the cut. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { InterruptRecord } from '../../ports/run-index.ts';
import { INTERRUPT_COLUMNS, type InterruptColumns, interruptOf } from '../columns.ts';
import { query } from '../query.ts';
import type { Stretches } from './stretches.ts';

export type RunInterrupts = (runId: RunId, stretches: Stretches) => readonly InterruptRecord[];

/** In the order in which they were asked. */
export function runInterrupts(db: DatabaseSync): RunInterrupts {
  const own = query<InterruptColumns>(db, `SELECT ${INTERRUPT_COLUMNS} FROM interrupts WHERE run = ? ORDER BY place`);
  const shared = query<InterruptColumns>(
    db,
    `SELECT ${INTERRUPT_COLUMNS} FROM interrupts WHERE run = ? AND seq >= ? AND seq < ?`,
  );
  return (runId, stretches) => {
    const key = stretches.at(-1)?.owner ?? 0;
    const found = own.all(key).map((columns) => interruptOf(runId, columns));
    if (stretches.length === 1) return found;
    const known = new Set(found.map(({ interruptId }) => interruptId));
    for (const { owner, from, through } of stretches.slice(0, -1)) {
      for (const columns of shared.all(owner, from, through)) {
        // What was open at the cut is among the run's own.
        const interrupt = { ...interruptOf(runId, columns), open: false, votes: [] };
        if (!known.has(interrupt.interruptId)) found.push(interrupt);
      }
    }
    return found.sort((a, b) => a.seq - b.seq);
  };
}
