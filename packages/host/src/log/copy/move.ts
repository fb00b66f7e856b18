/** Moves the store of a data folder into Postgres, a page in each transaction, and verifies what arrived. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TerminalError } from '@cairn/protocol';
import type { Database, Queries } from '../postgres/database.ts';
import { encodeJson } from '../postgres/text-codec.ts';
import { lockFolder } from '../sqlite/folder/lock.ts';
import { checkVersion } from '../sqlite/folder/migrate.ts';
import { openSqliteStore } from '../sqlite/folder/open.ts';
import { cursorEnd } from '../sqlite/retention/purged-runs.ts';
import { TenantBytes } from '../sqlite/run-index/tenant-usage.ts';
import { advance, beginMove, checkSource, type MoveRecord, readMove } from './move-record.ts';
import { copiedTables } from './record-tables.ts';
import { countRows, sqlitePages } from './sqlite-pages.ts';
import { verifySome } from './verify-chains.ts';
import { writePage } from './write-postgres.ts';

export interface MoveProgress {
  readonly step: 'copy' | 'verify';
  /** The table that is being copied. */
  readonly table: string | null;
  readonly done: number;
  readonly of: number;
}

export interface MoveOptions {
  readonly folder: string;
  /** With the current schema. */
  readonly database: Database;
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined;
  /** Ends the move after the page that is being written. The next one goes on there. */
  readonly signal?: AbortSignal | undefined;
}

export interface Moved {
  /** `before`: this move was complete already. */
  readonly outcome: 'moved' | 'stopped' | 'before';
  readonly rows: number;
  readonly runs: number;
  readonly events: number;
}

export async function moveToPostgres(options: MoveOptions): Promise<Moved> {
  const { folder, database } = options;
  if (!existsSync(join(folder, 'cairn.db'))) throw noFolder(folder);
  const known = await readMove(database);
  // Brings the folder to this version, and refuses one that is damaged or in use.
  if (known === null) await (await openSqliteStore({ folder })).close();
  const lock = lockFolder(folder);
  try {
    using db = new DatabaseSync(join(folder, 'cairn.db'), { readOnly: true, timeout: 5_000 });
    checkVersion(db, join(folder, 'cairn.db'));
    const from = stateOf(db);
    if (known !== null) checkSource(folder, database.place, { known, from });
    const fresh = { from, rows: countRows(db, copiedTables), copied: 0, step: firstTable, after: null };
    if (known === null) await beginMove(database, fresh);
    return await new Move(db, options, known ?? fresh).go();
  } finally {
    lock.release();
  }
}

const firstTable = copiedTables[0]?.name ?? '';

const stateOf = (db: DatabaseSync): MoveRecord['from'] => ({
  stamp: Number(db.prepare('PRAGMA application_id').get()?.application_id),
  cursor: cursorEnd(db)(),
});

class Move {
  readonly #db: DatabaseSync;
  readonly #database: Database;
  readonly #options: MoveOptions;
  #record: MoveRecord;

  constructor(db: DatabaseSync, options: MoveOptions, record: MoveRecord) {
    this.#db = db;
    this.#database = options.database;
    this.#options = options;
    this.#record = record;
  }

  async go(): Promise<Moved> {
    const wasDone = this.#record.step === 'done';
    for (const [place, table] of copiedTables.entries()) {
      if (this.#record.step !== table.name) continue;
      const read = sqlitePages(this.#db, table);
      for (;;) {
        if (this.#isStopped) return this.#result('stopped');
        const { after, copied } = this.#record;
        const page = read(after);
        const last = page.at(-1);
        if (last === undefined) break;
        const end = table.key.map((column) => last[column] ?? null);
        await this.#advance({ after: end, copied: copied + page.length }, (queries) => writePage(queries, table, page));
        this.#tell('copy', table.name, copied + page.length, this.#record.rows);
      }
      const next = copiedTables[place + 1];
      if (next === undefined) await this.#finish();
      else await this.#advance({ step: next.name, after: null });
    }
    if (this.#record.step === 'verify' && !(await this.#verified())) return this.#result('stopped');
    return this.#result(wasDone ? 'before' : 'moved');
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  async #advance(to: Partial<MoveRecord>, work: (queries: Queries) => Promise<void> = async () => {}): Promise<void> {
    const next = { ...this.#record, ...to };
    await advance(this.#database, { from: this.#record, to: next }, work);
    this.#record = next;
  }

  /** Fills the tables that are derived from the copied ones, and sets the sequences. */
  async #finish(): Promise<void> {
    const bytes = new TenantBytes(this.#db).load();
    const usage = [...bytes].map(([tenant, log_bytes]) => ({ tenant, log_bytes }));
    await this.#advance({ step: 'verify', after: null }, async (queries) => {
      await queries.changed(USAGE, [encodeJson(usage)]);
      await queries.changed(CONTEXT_HEADS);
      for (const [table, column] of drawn) {
        await queries.rows(
          `SELECT setval(pg_get_serial_sequence('cairn.${table}', '${column}'), greatest(1, (SELECT max(${column}) FROM cairn.${table})))`,
        );
      }
      await queries.rows(NEXT_RUN);
      await queries.rows(`SELECT setval('cairn.cursors', greatest(1, $1::bigint), $1::bigint > 0)`, [
        this.#record.from.cursor,
      ]);
    });
    // The planner knows nothing of tables that were just filled.
    for (const { name } of copiedTables) await this.#database.changed(`ANALYZE cairn.${name}`);
  }

  async #verified(): Promise<boolean> {
    const arrived = await this.#count(copiedTables.map(({ name }) => name));
    if (arrived !== this.#record.rows) throw rowsMissing(this.#database.place, this.#record.rows, arrived);
    const events = await this.#count(['events', 'tombstones']);
    let walked = 0;
    for (;;) {
      if (this.#isStopped) return false;
      const page = await verifySome(this.#database, this.#database.place, Number(this.#record.after?.[0] ?? 0));
      if (page.last === null) break;
      walked += page.events;
      await this.#advance({ after: [page.last] });
      this.#tell('verify', null, walked, events);
    }
    await this.#advance({ step: 'done', after: null });
    return true;
  }

  async #count(tables: readonly string[]): Promise<number> {
    let rows = 0;
    for (const table of tables) {
      const where = table === 'facts' ? "WHERE name IN ('host', 'key')" : '';
      const [[count] = [0]] = await this.#database.rows<[number]>(`SELECT count(*) FROM cairn.${table} ${where}`);
      rows += count;
    }
    return rows;
  }

  #tell(step: MoveProgress['step'], table: string | null, done: number, of: number): void {
    this.#options.onProgress?.({ step, table, done, of });
  }

  async #result(outcome: Moved['outcome']): Promise<Moved> {
    const [runs, events] = [await this.#count(['runs']), await this.#count(['events'])];
    return { outcome, rows: this.#record.copied, runs, events };
  }
}

/** Keys that Postgres draws. */
const drawn = [
  ['contexts', 'key'],
  ['interrupts', 'place'],
  ['workflows', 'place'],
  ['packs', 'place'],
  ['subscriptions', 'place'],
  ['blobs', 'key'],
  ['memory_scopes', 'key'],
  ['expiring', 'place'],
] as const;

/** The key of a purged run is never given to another: its tombstones have it. */
const NEXT_RUN = `SELECT setval(pg_get_serial_sequence('cairn.runs', 'key'), greatest(1, (SELECT max(key) FROM cairn.runs),
  (SELECT max(key) FROM cairn.purged_runs)))`;

/** No writer has the number 0. */
const USAGE = `INSERT INTO cairn.usage (tenant, writer, log_bytes, blob_bytes)
  SELECT tenant, 0, sum(log_bytes), sum(blob_bytes) FROM (
    SELECT u.tenant, u.log_bytes, 0 AS blob_bytes FROM jsonb_to_recordset($1::text::jsonb) AS u (tenant text, log_bytes bigint)
    UNION ALL SELECT tenant, 0, bytes FROM cairn.blobs) bytes GROUP BY tenant`;

const CONTEXT_HEADS = `UPDATE cairn.contexts c SET head = greatest(
  coalesce((SELECT max(e.cursor) FROM cairn.events e WHERE e.context = c.key), 0),
  coalesce((SELECT max(t.cursor) FROM cairn.purged_runs p JOIN cairn.tombstones t ON t.run = p.key WHERE p.context = c.id), 0))`;

const noFolder = (folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `${folder} is not a data folder: it has no cairn.db.`,
    hint: 'Name the folder of the host with --from.',
  });

const rowsMissing = (place: string, expected: number, found: number): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `${place} has ${found} rows; the data folder has ${expected}.`,
    hint: 'Something else wrote to the database. Drop its schema cairn and move again.',
    details: { expected, found },
  });
