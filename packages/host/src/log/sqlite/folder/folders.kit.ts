/** Data folders for the suites of the SQLite store; not shipped. */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import type { SqliteStore } from '../store.ts';
import { migrate } from './migrate.ts';
import { openDatabase, openSqliteStore } from './open.ts';

/** Creates fresh folders and removes them after the suite. */
export function folders(): { fresh(): string; copyOf(folder: string): string } {
  const root = mkdtempSync(join(tmpdir(), 'cairn-sqlite-'));
  let count = 0;
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const fresh = (): string => {
    count += 1;
    return join(root, String(count));
  };
  return {
    fresh,
    /** The files as a power cut would leave them: copied while open. */
    copyOf(folder) {
      const copy = fresh();
      cpSync(folder, copy, { recursive: true });
      chmodSync(copy, 0o700);
      return copy;
    },
  };
}

/** A new database in a new folder, for a suite that assembles the store itself. */
export function database(folder: string): { readonly db: DatabaseSync; readonly file: string } {
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, 'cairn.db');
  const db = openDatabase(file);
  migrate(db, file);
  return { db, file };
}

/** Makes the database of a closed folder what it was before a migration: the older tables, with what they can hold. */
export function undo(folder: string, migration: string): void {
  const file = join(folder, 'cairn.db');
  const newer = `${file}.newer`;
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, newer + suffix);
  using db = openDatabase(file);
  migrate(db, file, { before: migration });
  db.exec(`ATTACH '${newer}' AS newer`);
  const columnsOf = (schema: string, table: string) =>
    db
      .prepare(`PRAGMA ${schema}.table_info(${table})`)
      .all()
      .map(({ name }) => String(name));
  for (const table of ['runs', 'run_tags', 'events', 'large_values', 'interrupts', 'idempotency']) {
    const newerColumns = columnsOf('newer', table);
    const common = columnsOf('main', table)
      .filter((name) => newerColumns.includes(name))
      .join(', ');
    if (common === '') continue;
    db.exec(`INSERT INTO ${table} (${common}) SELECT ${common} FROM newer.${table}`);
  }
  db.exec('DETACH newer');
  for (const suffix of ['', '-wal', '-shm']) rmSync(newer + suffix, { force: true });
}

/** A store whose faults fail the test. */
export const open = (folder: string): Promise<SqliteStore> =>
  openSqliteStore({
    folder,
    onFault: (error) => {
      throw error;
    },
  });
