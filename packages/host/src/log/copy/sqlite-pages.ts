/** Reads the tables of a SQLite store a page at a time, with what only Postgres keeps of a row. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { contextId, type RunId } from '@cairn/protocol';
import { chainStart } from '../chain.ts';
import { rowBytes } from '../ports/row-bytes.ts';
import { vectorOf } from '../postgres/memories/memory-words.ts';
import { lastRowReader } from '../sqlite/forks/last-row.ts';
import { SharedRows } from '../sqlite/forks/stretches.ts';
import { query } from '../sqlite/query.ts';
import { rowReader } from '../sqlite/values/read-rows.ts';
import { storedValues } from '../sqlite/values/shared-values.ts';
import { type Cell, type ColumnType, type CopiedRow, type CopiedTable, PAGE_BYTES, PAGE_ROWS } from './copied-table.ts';

/** The rows after a key, as many as fit on a page. Null begins with the first. */
export type ReadPage = (after: readonly Cell[] | null) => readonly CopiedRow[];

export function sqlitePages(db: DatabaseSync, table: CopiedTable): ReadPage {
  const { inSqlite } = table;
  const names = Object.keys(table.columns);
  const types = Object.values(table.columns);
  const shown = names.map((name) => inSqlite?.read?.[name] ?? name);
  const key = table.key.join(', ');
  const from = `SELECT ${shown.join(', ')} FROM ${inSqlite?.name ?? table.name} WHERE ${inSqlite?.where ?? 'true'}`;
  const order = `ORDER BY ${key} LIMIT ${PAGE_ROWS}`;
  const first = query<SQLOutputValue[]>(db, `${from} ${order}`);
  const next = query<SQLOutputValue[]>(db, `${from} AND (${key}) > (${table.key.map(() => '?').join(', ')}) ${order}`);
  const complete = completing(db, table.name);
  return (after) => {
    const page: CopiedRow[] = [];
    let bytes = 0;
    for (const found of after === null ? first.iterate() : next.iterate(...after.map(bound))) {
      const row: CopiedRow = {};
      for (const [i, name] of names.entries()) row[name] = cellOf(found[i] ?? null, types[i] ?? 'text');
      const whole = complete(row);
      page.push(whole);
      for (const cell of Object.values(whole))
        bytes += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8;
      if (bytes >= PAGE_BYTES) break;
    }
    return page;
  };
}

/** How many rows the tables have together. */
export function countRows(db: DatabaseSync, tables: readonly CopiedTable[]): number {
  let rows = 0;
  for (const { name, inSqlite } of tables) rows += countTable(db, inSqlite?.name ?? name, inSqlite?.where);
  return rows;
}

const countTable = (db: DatabaseSync, name: string, where = 'true'): number =>
  Number(db.prepare(`SELECT count(*) AS n FROM ${name} WHERE ${where}`).get()?.n);

const bound = (cell: Cell): string | number | null | Uint8Array => (typeof cell === 'boolean' ? Number(cell) : cell);

function cellOf(value: SQLOutputValue, type: ColumnType): Cell {
  if (value === null) return null;
  if (type === 'boolean') return value === 1;
  if (type === 'json') return JSON.stringify(value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Adds what only Postgres keeps. */
function completing(db: DatabaseSync, table: string): (row: CopiedRow) => CopiedRow {
  switch (table) {
    case 'runs':
      return withHead(db);
    case 'events':
      return whole(db);
    case 'memory_entries':
      return (row) => ({ ...row, words: vectorOf(String(row.content)) });
    default:
      return (row) => row;
  }
}

/** Where the run ends. A fork without own rows ends with the last one that it shares. */
function withHead(db: DatabaseSync): (row: CopiedRow) => CopiedRow {
  const shared = new SharedRows(db);
  const lastOf = lastRowReader(db);
  return (row) => {
    const fork = row.fork_source === null ? null : { fromSeq: Number(row.fork_seq) };
    const last = lastOf(shared.of(Number(row.key), fork));
    return {
      ...row,
      head_seq: last?.seq ?? -1,
      head_hash: last?.hash ?? chainStart(String(row.origin) as RunId),
      head_at: last?.at ?? 0,
    };
  };
}

/** Puts back the large values of an event. */
function whole(db: DatabaseSync): (row: CopiedRow) => CopiedRow {
  const read = rowReader(storedValues(db));
  const nowhere = contextId('');
  return (row) => {
    const { payload, task } = read('' as RunId, nowhere, [
      Number(row.seq),
      Number(row.cursor),
      Number(row.at),
      String(row.type),
      null,
      null,
      0,
      String(row.payload),
      row.task === null ? null : String(row.task),
      '',
      '',
      row.cuts === null ? null : String(row.cuts),
      0,
    ]);
    const sizes = { payload_size: payload.length, task_size: task?.length ?? 0 };
    return { ...row, payload, task, cuts: null, bytes: rowBytes({ payload, task }), ...sizes };
  };
}
