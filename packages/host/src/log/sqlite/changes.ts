/** Reads the rows of all runs by cursor: every row, or those of one tenant and some types. */
import type { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import type { ChangeLog, Changes, ChangesRange, RowFilter } from '../ports/changes.ts';
import { pageBytes } from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import { EVENT_COLUMNS, type EventColumns, PLACE_COLUMNS } from './columns.ts';
import type { Connection } from './connection.ts';
import { type Query, query } from './query.ts';
import { HOST, type InReadTurn, rowsCost, SCAN_COST } from './read-turns.ts';
import { cursorEnd } from './retention/purged-runs.ts';
import { rowReader, type ToRow } from './values/read-rows.ts';
import type { SharedValues } from './values/shared-values.ts';

export function sqliteChanges({ db, read, values }: Connection, inTurn: InReadTurn): ChangeLog {
  const changes = new ChangesReader(db, values);
  return {
    read: (range) =>
      inTurn(
        () => range.filter?.tenant ?? HOST,
        () => changes.read(range),
        ({ rows, position }) => rowsCost(rows) + (Number(position) - Number(range.after)) * SCAN_COST,
      ),
    end: async () => read(() => String(changes.end())),
    lastCursor: async () => read(() => changes.end()),
  };
}

type FilteredQuery = Query<[runId: RunId, contextId: ContextId, ...EventColumns]>;

class ChangesReader {
  readonly #all: Query<[runId: RunId, contextId: ContextId, importedAt: number | null, ...EventColumns]>;
  readonly #filtered: FilteredQuery;
  readonly #filteredPlaces: FilteredQuery;
  readonly #end: () => number;
  readonly #rowOf: ToRow;

  constructor(db: DatabaseSync, values: SharedValues) {
    this.#all = query(
      db,
      `SELECT run_id, context, imported_at, ${EVENT_COLUMNS} FROM events
       JOIN (SELECT key, id AS run_id, context, imported_at FROM runs) AS whose ON whose.key = events.run
       WHERE cursor > ? ORDER BY cursor LIMIT ?`,
    );
    this.#filtered = filtered(db, EVENT_COLUMNS);
    this.#filteredPlaces = filtered(db, PLACE_COLUMNS);
    this.#rowOf = rowReader(values.find);
    this.#end = cursorEnd(db);
  }

  /** The cursor of the last row, including rows written by other processes. */
  end(): number {
    return this.#end();
  }

  read(range: ChangesRange): Changes {
    if (range.filter !== null) return this.#readFiltered(range, range.filter);
    const maxBytes = pageBytes(range.maxBytes);
    const rows: Row[] = [];
    let position = Number(range.after);
    let bytes = 0;
    let scanned = 0;
    for (const [runId, contextId, importedAt, ...columns] of this.#all.iterate(position, range.limit)) {
      const row = this.#rowOf(runId, contextId, columns);
      position = row.cursor;
      bytes += bodySize(row);
      if (importedAt === null) rows.push(row);
      scanned += 1;
      if (bytes >= maxBytes) break;
    }
    // The last rows may have been purged. The position moves past them, as it does past imported runs.
    const isAtEnd = scanned < range.limit && bytes < maxBytes;
    return { rows, position: String(isAtEnd ? Math.max(position, this.end()) : position) };
  }

  /** Positions are cursors. The scanned range is counted in cursors, which may have gaps. */
  #readFiltered(range: ChangesRange, { tenant, types }: RowFilter): Changes {
    const { limit } = range;
    const maxBytes = pageBytes(range.maxBytes);
    const after = Number(range.after);
    // Never past the last row: the cursors of a failed transaction may be assigned again.
    const through = Math.min(after + limit, this.end());
    const rows: Row[] = [];
    let bytes = 0;
    const found = range.isForPlaces === true ? this.#filteredPlaces : this.#filtered;
    for (const [runId, contextId, ...columns] of found.iterate(after, through, JSON.stringify(types), tenant)) {
      const row = this.#rowOf(runId, contextId, columns);
      rows.push(row);
      bytes += bodySize(row);
      if (bytes >= maxBytes) return { rows, position: String(row.cursor) };
    }
    return { rows, position: String(Math.max(after, through)) };
  }
}

/** CROSS JOIN fixes the join order: SQLite scans a range of the log, not all rows of a tenant. */
const filtered = (db: DatabaseSync, columns: string): FilteredQuery =>
  query(
    db,
    `SELECT run_id, context, ${columns} FROM events
     CROSS JOIN (SELECT key, id AS run_id, context, tenant, imported_at FROM runs) AS whose ON whose.key = events.run
     WHERE cursor > ? AND cursor <= ? AND type IN (SELECT value FROM json_each(?)) AND audience = 0
       AND whose.tenant = ? AND whose.imported_at IS NULL ORDER BY cursor`,
  );
