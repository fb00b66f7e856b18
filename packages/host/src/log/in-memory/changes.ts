/** The rows of all runs in commit order, in memory. Positions are cursors. */
import type { ChangeLog, Changes, ChangesRange, RowFilter } from '../ports/changes.ts';
import { pageBytes } from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import type { Tables } from './tables.ts';

export const inMemoryChanges = (tables: Tables): ChangeLog => ({
  read: async (range) => changes(tables, range),
  end: async () => {
    tables.assertOpen();
    return String(tables.cursor);
  },
  lastCursor: async () => {
    tables.assertOpen();
    return tables.cursor;
  },
});

function changes(tables: Tables, { after, limit, maxBytes, filter, isForPlaces }: ChangesRange): Changes {
  tables.assertOpen();
  const [all, start] = afterCursor(tables.rows, Number(after));
  const rows: Row[] = [];
  let bytes = 0;
  let position = Number(after);
  for (const row of all.slice(start, start + limit)) {
    if (bytes >= pageBytes(maxBytes)) break;
    position = row.cursor;
    if (filter !== null && !matches(row, tables.run(row.runId).head.record.tenant, filter)) continue;
    rows.push(row);
    if (filter === null || isForPlaces !== true) bytes += bodySize(row);
  }
  // The last rows may have been purged. The position moves past them, as it does past imported runs.
  const isAtEnd = all.length - start <= limit && bytes < pageBytes(maxBytes);
  return { rows, position: String(isAtEnd ? tables.cursor : position) };
}

const matches = (row: Row, tenant: string, filter: RowFilter): boolean =>
  tenant === filter.tenant && row.audience === 'client' && filter.types.includes(row.type);

/** The index of the first row after a cursor; rows are in cursor order. */
function afterCursor(rows: readonly Row[], cursor: number): readonly [readonly Row[], number] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] as Row).cursor <= cursor) low = middle + 1;
    else high = middle;
  }
  return [rows, low];
}
