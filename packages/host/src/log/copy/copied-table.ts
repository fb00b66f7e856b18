/** How both stores keep one table. Every row has the same keys, cursors and hashes in both. */

/** As Postgres has the column. `json` is a value of SQLite that Postgres keeps as JSON. */
export type ColumnType = 'bigint' | 'boolean' | 'bytea' | 'double precision' | 'json' | 'smallint' | 'text';

export interface CopiedTable {
  readonly name: string;
  /** By which it is read in order, a page at a time. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly inSqlite?: SqliteSide | undefined;
  readonly inPostgres?: PostgresSide | undefined;
}

interface SqliteSide {
  readonly name?: string | undefined;
  /** What to read for a column; by default the column of the same name. */
  readonly read?: Readonly<Record<string, string>> | undefined;
  /** Which rows are copied. */
  readonly where?: string | undefined;
  /** The column to write; null if SQLite has none. By default the column of the same name. */
  readonly write?: Readonly<Record<string, string | null>> | undefined;
}

interface PostgresSide {
  /** What is read. Default: the table. */
  readonly from?: string | undefined;
  /** What to read for a column; by default the column of the same name. */
  readonly read?: Readonly<Record<string, string>> | undefined;
  /** Statements that write the rows `x`, in order. Default: one insert. */
  readonly write?: readonly string[] | undefined;
  /** The size of a row `t`, if it may be large: a page of large rows is short. */
  readonly size?: string | undefined;
  /** Which rows `t` belong to the runs in `keys`, for a copy of some runs. Without it such a copy has none of them. */
  readonly ofRuns?: string | undefined;
}

/** Columns of one type, by their names. */
export const columns = (type: ColumnType, names: string): Readonly<Record<string, ColumnType>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, type]));

/** One value of a copied row. */
export type Cell = string | number | boolean | null | Uint8Array;

/** A copied row, by the names of its columns. */
export type CopiedRow = Record<string, Cell>;

/** Rows on a page, and the bytes from which on it takes no more: memory stays flat, whatever a store holds. */
export const PAGE_ROWS = 500;
export const PAGE_BYTES = 1_048_576;
