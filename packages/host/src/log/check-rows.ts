/** Refuses rows that no store could give back as they were, or that are too large. */
import { invariant, isTerminalType, type RunId, TerminalError } from '@cairn/protocol';
import { utf8Size } from '../utf8.ts';
import type { Append } from './ports/event-log.ts';
import { MAX_EVENT_BYTES, type NewRow } from './ports/rows.ts';

export function checkRows(append: Pick<Append, 'runId' | 'rows'>): void {
  const { rows, runId } = append;
  invariant(rows.length > 0, 'append-has-rows', { runId });
  let left = rows.length;
  for (const row of rows) {
    left -= 1;
    // Checked before calling `invariant`: this runs for every row and must not build error details each time.
    if (left > 0 && isTerminalType(row.type)) invariant(false, 'terminal-row-is-last', { runId, type: row.type });
    if (!isWellFormed(row)) invariant(false, 'row-text-well-formed', { runId, type: row.type });
    checkSize(row, runId);
  }
}

/** A lone surrogate has no UTF-8 form, so a store would return different text than was hashed. */
const isWellFormed = ({ payload, task, nodeId, type }: NewRow): boolean =>
  payload.isWellFormed() &&
  (task === null || task.isWellFormed()) &&
  (nodeId === undefined || nodeId.isWellFormed()) &&
  type.isWellFormed();

function checkSize(row: NewRow, runId: RunId): void {
  const chars = row.payload.length + (row.task?.length ?? 0);
  // UTF-8 takes at most three bytes per UTF-16 unit, so most rows need no counting.
  if (chars * 3 <= MAX_EVENT_BYTES) return;
  const bytes = utf8Size(row.payload) + utf8Size(row.task ?? '');
  if (bytes <= MAX_EVENT_BYTES) return;
  throw new TerminalError('event_too_large', {
    message: `An event ${row.type} of run ${runId} has ${bytes} bytes; the limit is ${MAX_EVENT_BYTES}.`,
    hint: 'Keep large values outside the run and pass a reference.',
    details: { bytes, limit: MAX_EVENT_BYTES },
  });
}
