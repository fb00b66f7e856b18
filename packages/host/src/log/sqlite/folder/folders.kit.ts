/** Data folders for the suites of the SQLite store; not shipped. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import type { SqliteStore } from '../store.ts';
import { migrate } from './migrations.ts';
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
      return copy;
    },
  };
}

/** A new database in a new folder, for a suite that assembles the store itself. */
export function database(folder: string): { readonly db: DatabaseSync; readonly file: string } {
  mkdirSync(folder);
  const file = join(folder, 'cairn.db');
  const db = openDatabase(file);
  migrate(db, file);
  return { db, file };
}

/** A store whose faults fail the test. */
export const open = (folder: string): Promise<SqliteStore> =>
  openSqliteStore({
    folder,
    onFault: (error) => {
      throw error;
    },
  });
