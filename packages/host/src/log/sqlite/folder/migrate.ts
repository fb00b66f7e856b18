/** Brings a database to the current schema. A database from a newer program is rejected. */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { TerminalError } from '@cairn/protocol';
import type { RowProgress } from './migration.ts';
import { migrations } from './migrations.ts';

/** The schema version of a database. Rejects a database from a newer program. */
export function checkVersion(db: DatabaseSync, file: string): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > migrations.length) {
    throw new TerminalError('store_newer', {
      message: `The database ${file} has version ${version}; this program knows versions up to ${migrations.length}.`,
      hint: 'Start the newer program that wrote it, or restore a backup from before the upgrade.',
      details: { version, known: migrations.length },
    });
  }
  return version;
}

/**
 * One migration of a database that has runs, before it begins. A large database may take a minute. A migration that
 * changes many rows reports again how many are done.
 */
export interface MigrationNotice extends Partial<RowProgress> {
  readonly number: number;
  readonly of: number;
  readonly name: string;
  readonly bytes: number;
}

export interface MigrateOptions {
  readonly onMigration?: ((notice: MigrationNotice) => void) | undefined;
  /** Stops before the migration of this name, for tests with older databases. */
  readonly before?: string | undefined;
}

/** Migrates a database to the current schema. Each migration and its ledger row commit in one transaction. */
export function migrate(db: DatabaseSync, file: string, { onMigration, before }: MigrateOptions = {}): void {
  const version = checkVersion(db, file);
  for (const [place, { name, sql, changeRows }] of migrations.entries()) {
    if (name === before) return;
    if (place < version) continue;
    const number = place + 1;
    const notice = { number, of: migrations.length, name };
    if (version > 0) onMigration?.({ ...notice, bytes: statSync(file).size });
    if (version > 0)
      changeRows?.(db, (progress) => onMigration?.({ ...notice, bytes: statSync(file).size, ...progress }));
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec('CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
      db.exec(sql);
      db.prepare('INSERT INTO migrations VALUES (?, ?)').run(number, name);
      db.exec(`PRAGMA user_version = ${number}`);
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}
