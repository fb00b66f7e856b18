/** Copies a Postgres store of one instant into a new data folder: for backups, and for commands that read a folder. */
import { join } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import type { Database, Queries } from '../postgres/database.ts';
import { wordsIn } from '../search-words.ts';
import { ContextSegments } from '../sqlite/contexts/segments.ts';
import { migrate } from '../sqlite/folder/migrate.ts';
import { openDatabase } from '../sqlite/folder/open.ts';
import { privateFile, privateFolder } from '../sqlite/folder/private-files.ts';
import { defineMarks, FROZEN_COLUMNS, ORIGIN_COLUMNS, PURGED_RUN_COLUMNS, TOMBSTONE_COLUMNS } from '../sqlite/marks.ts';
import { scopedWords } from '../sqlite/memories/memory-tables.ts';
import { query } from '../sqlite/query.ts';
import { ValueWriter } from '../sqlite/values/large-values.ts';
import { LARGE_VALUE_CHARS } from '../values/cut-values.ts';
import type { Cell, CopiedRow, CopiedTable } from './copied-table.ts';
import { postgresPages, type RunKeys, runKeys } from './postgres-pages.ts';
import { copiedTables } from './record-tables.ts';

export interface CopyOptions {
  /** Only these runs, those of their contexts, and those that they share events with. Default: everything. */
  readonly runIds?: readonly RunId[] | undefined;
  readonly onProgress?: ((rows: number) => void) | undefined;
  /** Reads what the copy cannot hold, of the same instant. */
  readonly also?: ((queries: Queries) => Promise<void>) | undefined;
}

/** The folder must not exist. A copy that fails leaves a part of it. */
export async function copyToFolder(database: Database, folder: string, options: CopyOptions = {}): Promise<void> {
  privateFolder(folder);
  const file = join(folder, 'cairn.db');
  privateFile(file);
  using db = openDatabase(file);
  // A part of a copy is of no use.
  db.exec('PRAGMA synchronous = OFF');
  migrate(db, file);
  await database.transaction(async (queries) => {
    await queries.changed('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const keys = options.runIds === undefined ? null : await runKeys(queries, options.runIds);
    await copyTables(queries, db, { keys, ...options });
    await options.also?.(queries);
  }, 1);
  db.exec('PRAGMA synchronous = FULL');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

async function copyTables(
  queries: Queries,
  db: DatabaseSync,
  { keys, onProgress }: CopyOptions & { readonly keys: RunKeys },
): Promise<void> {
  let rows = 0;
  for (const table of copiedTables) {
    const write = writerOf(db, table);
    await postgresPages(queries, { table, keys }, (page) => {
      db.exec('BEGIN');
      for (const row of page) write(row);
      db.exec('COMMIT');
      rows += page.length;
      onProgress?.(rows);
    });
  }
  const usage = await queries.rows<[tenant: string, logBytes: number, blobBytes: number]>(
    'SELECT tenant, sum(log_bytes)::bigint, sum(blob_bytes)::bigint FROM cairn.usage GROUP BY tenant',
  );
  db.exec('BEGIN');
  if (keys === null) writeUsage(db, usage);
  defineMarks(db);
  for (const statement of derived) db.exec(statement);
  db.exec('COMMIT');
}

type WriteRow = (row: CopiedRow) => void;

function writerOf(db: DatabaseSync, table: CopiedTable): WriteRow {
  if (table.name === 'events') return eventWriter(db, table);
  if (table.name === 'memory_entries') return memoryWriter(db, table);
  return rowWriter(db, table);
}

function rowWriter(db: DatabaseSync, { name, columns, inSqlite }: CopiedTable): WriteRow {
  const kept = Object.keys(columns).filter((column) => inSqlite?.write?.[column] !== null);
  const written = kept.map((column) => inSqlite?.write?.[column] ?? column);
  const insert = db.prepare(
    `INSERT INTO ${inSqlite?.name ?? name} (${written.join(', ')}) VALUES (${kept.map(() => '?').join(', ')})`,
  );
  return (row) => void insert.run(...kept.map((column) => bound(row[column] ?? null, columns[column] === 'json')));
}

function bound(cell: Cell, isJson: boolean): SQLInputValue {
  if (typeof cell === 'boolean') return Number(cell);
  if (isJson && cell !== null) {
    const value: unknown = JSON.parse(String(cell));
    return typeof value === 'number' ? value : String(value);
  }
  return cell;
}

/** With each large value once, and the index of contexts. */
function eventWriter(db: DatabaseSync, table: CopiedTable): WriteRow {
  const write = rowWriter(db, table);
  const values = new ValueWriter(db);
  const segments = new ContextSegments(db);
  const contextOf = query<[context: string]>(
    db,
    'SELECT context FROM runs WHERE key = ?1 UNION ALL SELECT context FROM purged_runs WHERE key = ?1',
  );
  return (row) => {
    const payload = String(row.payload);
    const task = row.task === null ? null : String(row.task);
    const isLarge = payload.length >= LARGE_VALUE_CHARS || (task?.length ?? 0) >= LARGE_VALUE_CHARS;
    const kept = isLarge ? values.keep(Number(row.run), payload, task) : { payload, task, cuts: null };
    write({ ...row, ...kept, bytes: kept.cuts === null ? null : (row.bytes ?? null) });
    const [context] = contextOf.get(Number(row.run)) ?? [];
    if (context !== undefined)
      segments.note(context, Number(row.run), { cursor: Number(row.cursor), seq: Number(row.seq) });
  };
}

/** With the words of the entry, which Postgres keeps in another form. */
function memoryWriter(db: DatabaseSync, table: CopiedTable): WriteRow {
  const write = rowWriter(db, table);
  const words = db.prepare('INSERT INTO memory_words (rowid, words) VALUES (?, ?)');
  return (row) => {
    write(row);
    words.run(Number(row.cursor), scopedWords(Number(row.scope), wordsIn(String(row.content))));
  };
}

function writeUsage(db: DatabaseSync, usage: readonly (readonly [string, number, number])[]): void {
  const log = db.prepare('INSERT INTO tenant_usage VALUES (?, ?)');
  const blobs = db.prepare('INSERT INTO blob_usage VALUES (?, ?)');
  for (const [tenant, logBytes, blobBytes] of usage) {
    log.run(tenant, logBytes);
    blobs.run(tenant, blobBytes);
  }
}

const LAST = `max(coalesce((SELECT max(cursor) FROM events), 0), coalesce((SELECT max(cursor) FROM tombstones), 0))`;

/** What SQLite keeps beside the copied tables. Cursors of Postgres have gaps; those that follow have none. */
const derived: readonly string[] = [
  `INSERT OR REPLACE INTO marks SELECT 'cairn.tenant-usage', ${LAST}`,
  `INSERT OR REPLACE INTO folder_facts SELECT 'dense_after', ${LAST}`,
  `INSERT OR REPLACE INTO folder_facts SELECT 'sparse_until', ${LAST}`,
  `UPDATE tombstones SET mark = mark_of(${TOMBSTONE_COLUMNS})`,
  `UPDATE purged_runs SET mark = mark_of(${PURGED_RUN_COLUMNS})`,
  `UPDATE runs SET mark = mark_of(${ORIGIN_COLUMNS}) WHERE fork_source IS NOT NULL OR imported_at IS NOT NULL`,
  `UPDATE runs SET frozen = mark_of(${FROZEN_COLUMNS}) WHERE ended_at IS NOT NULL
     AND key IN (SELECT run FROM shared_rows WHERE owner IN (SELECT key FROM purged_runs))`,
  'UPDATE checkpoints SET mark = mark_of(run, seq, format, body)',
  'UPDATE index_checkpoints SET mark = mark_of(run, seq, body)',
];
