/** Opens the store of a data folder: locks it for this process, checks it after a crash, and migrates it. */
import { closeSync, existsSync, fdatasyncSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ListenerFault } from '../../feed/followers.ts';
import type { ElapsedMs } from '../commit/group-commit.ts';
import { corrupt, storeError } from '../errors.ts';
import { assembleStore, type SqliteStore, type SqliteStorePorts } from '../store.ts';
import { lockFolder } from './lock.ts';
import { type MigrateOptions, migrate } from './migrate.ts';

export type { SqliteStore } from '../store.ts';

export interface SqliteStoreOptions {
  /** Folder of the database; created if missing. */
  readonly folder: string;
  /**
   * Called on errors outside any request: a `follow` listener that throws, or a failed checkpoint.
   * By default the error surfaces as an uncaught exception.
   */
  readonly onFault?: ListenerFault;
  /** A monotonic clock, used to detect a slow disk. By default no disk counts as slow. */
  readonly elapsedMs?: ElapsedMs;
  /** Called before each migration of an existing database. */
  readonly onMigration?: MigrateOptions['onMigration'];
}

/** The check reads the whole file. After a crash, only files up to this size are checked before the host serves. */
const CHECKED_BYTES = 67_108_864;

export async function openSqliteStore({
  folder,
  onFault,
  elapsedMs,
  onMigration,
}: SqliteStoreOptions): Promise<SqliteStore> {
  const file = join(folder, 'cairn.db');
  const marker = join(folder, 'cairn.running');
  let undo = (): void => {};
  try {
    // Other users of this machine must not read run data. An existing folder keeps its permissions.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = lockFolder(folder);
    undo = () => lock.release();
    const crashed = existsSync(marker);
    const db = openDatabase(file);
    undo = () => {
      db.close();
      lock.release();
    };
    db.exec('PRAGMA user_version'); // the first read of the file: fails for anything but a database
    if (crashed) check(db, file);
    if (crashed) makeLast(db);
    migrate(db, file, { onMigration });
    writeFileSync(marker, '');
    const closed: SqliteStorePorts['closed'] = (as) => {
      // A kept marker makes the next process treat the folder as crashed.
      if (as === 'whole') rmSync(marker, { force: true });
      lock.release();
    };
    return assembleStore({ db, file, onFault, closed, elapsedMs });
  } catch (error) {
    undo();
    throw storeError(error, file);
  }
}

/** FULL flushes the WAL at every commit, unless `GroupCommit` does. The checkpointer replaces automatic checkpoints. */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: false });
  try {
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA wal_autocheckpoint = 0');
    db.exec('PRAGMA journal_size_limit = 67108864');
    db.exec('PRAGMA cache_size = -32768');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Makes durable what a killed process wrote but did not flush, because this process will read it. The checkpoint covers
 * pages that the system dropped when a flush failed: it copies them from where they are read. A concurrent reader of
 * the folder may keep the checkpoint from completing.
 */
function makeLast(db: DatabaseSync): void {
  const wal = openSync(`${db.location()}-wal`, 'r+');
  try {
    fdatasyncSync(wal);
  } finally {
    closeSync(wal);
  }
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
}

function check(db: DatabaseSync, file: string): void {
  if (statSync(file).size > CHECKED_BYTES) return;
  const found = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check);
  if (found !== 'ok') throw corrupt(file, found);
}
