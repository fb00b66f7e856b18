/** Reads every row of a run in order, one at a time, whichever runs own them. Purged ones are tombstones. */
import type { DatabaseSync } from 'node:sqlite';
import { TerminalError } from '@cairn/protocol';
import { isTombstone, type Row } from '../../ports/rows.ts';
import { EVENT_COLUMNS, type EventColumns } from '../columns.ts';
import { query } from '../query.ts';
import { rowReader } from '../values/read-rows.ts';
import { storedValues } from '../values/shared-values.ts';
import { PurgedRows } from './purged-rows.ts';
import type { Stretches } from './stretches.ts';

type Reader = Pick<Row, 'runId' | 'contextId'>;

export function sharedRowReader(db: DatabaseSync): (run: Reader, stretches: Stretches) => Iterable<Row> {
  const events = query<EventColumns>(
    db,
    `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq`,
  );
  const purged = new PurgedRows(db);
  const rowOf = rowReader(storedValues(db));
  return function* ({ runId, contextId }, stretches) {
    for (const { owner, from, through } of stretches) {
      for (const columns of purged.rows(owner, from, through)) yield rowOf(runId, contextId, columns);
      for (const columns of events.iterate(owner, from, through)) {
        const row = rowOf(runId, contextId, columns);
        // Only what a purge leaves has no content, and that is in a table of its own.
        if (isTombstone(row)) throw contentLost(row);
        yield row;
      }
    }
  };
}

const contentLost = ({ runId, seq }: Row): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `Event ${seq} of run ${runId} has no content, and was not purged.`,
    hint: 'Restore a backup, or import the run from a bundle.',
    details: { runId, seq },
  });
