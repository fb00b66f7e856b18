/** Brings a database to the current schema. A database from a newer program is rejected. */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { TerminalError } from '@cairn/protocol';
import type { Migration, RowProgress } from './migration.ts';
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

/**
 * Migrates a database to the current schema. Each migration and its ledger row commit in one transaction. A new
 * database has nothing to change yet: all of them are one transaction, with one flush.
 */
export function migrate(db: DatabaseSync, file: string, { onMigration, before }: MigrateOptions = {}): void {
  const version = checkVersion(db, file);
  const known = migrations.map((migration, place) => ({ ...migration, number: place + 1 }));
  const end = known.find(({ name }) => name === before)?.number ?? Number.POSITIVE_INFINITY;
  const missing = known.filter(({ number }) => number > version && number < end);
  if (version === 0) {
    inTransaction(db, () => {
      for (const migration of missing) apply(db, migration);
    });
    return;
  }
  for (const migration of missing) {
    const notice = { number: migration.number, of: migrations.length, name: migration.name };
    onMigration?.({ ...notice, bytes: statSync(file).size });
    migration.changeRows?.(db, (progress) => onMigration?.({ ...notice, bytes: statSync(file).size, ...progress }));
    inTransaction(db, () => apply(db, migration));
  }
}

function apply(db: DatabaseSync, { number, name, sql }: Migration & { readonly number: number }): void {
  db.exec('CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
  db.exec(sql);
  db.prepare('INSERT INTO migrations VALUES (?, ?)').run(number, name);
  db.exec(`PRAGMA user_version = ${number}`);
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
