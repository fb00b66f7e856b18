/** Opens the store of a data folder: locks it for this process, checks it after a crash, and migrates it. */
import { closeSync, existsSync, fdatasyncSync, openSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ListenerFault } from '../../feed/followers.ts';
import type { ElapsedMs } from '../commit/group-commit.ts';
import { corrupt, storeError } from '../errors.ts';
import { assembleStore, type SqliteStore, type SqliteStorePorts } from '../store.ts';
import { markerFile, refuseDamage, refuseEmpty } from './damage.ts';
import { lockFolder } from './lock.ts';
import { checkVersion, type MigrateOptions, migrate } from './migrate.ts';
import { narrow, privateFile, privateFolder } from './private-files.ts';
import { stamp } from './stamp.ts';

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
  /** Calls back in a later turn of the event loop, for reads of many rows. Default: in the next one. */
  readonly nextTurn?: SqliteStorePorts['nextTurn'];
  /** Called before each migration of an existing database. */
  readonly onMigration?: MigrateOptions['onMigration'];
}

/** The check reads the whole file. After a crash, only files up to this size are checked before the host serves. */
const CHECKED_BYTES = 67_108_864;

export async function openSqliteStore({
  folder,
  onFault,
  elapsedMs,
  nextTurn,
  onMigration,
}: SqliteStoreOptions): Promise<SqliteStore> {
  const file = join(folder, 'cairn.db');
  const marker = markerFile(folder);
  let undo = (): void => {};
  try {
    privateFolder(folder);
    const lock = lockFolder(folder);
    undo = () => lock.release();
    refuseDamage(folder);
    const crashed = existsSync(marker);
    // If this start fails, SQLite merges the log when it closes the database, and the log is gone for a good reason.
    if (crashed) writeFileSync(marker, '', { mode: 0o600 });
    privateFile(file);
    for (const suffix of ['-wal', '-shm']) narrow(`${realpathSync(file)}${suffix}`);
    const db = openDatabase(file);
    undo = () => {
      db.close();
      lock.release();
    };
    const isEmpty = checkVersion(db, file) === 0; // the first read of the file: fails for anything but a database
    if (isEmpty) refuseEmpty(folder);
    if (crashed) check(db, file);
    if (crashed) makeLast(db);
    migrate(db, file, { onMigration });
    writeFileSync(marker, String(stamp(db, folder)), { mode: 0o600 });
    narrow(marker);
    // If the process is killed while it closes the database, the log is gone for a good reason, too.
    const beforeClose = () => writeFileSync(marker, '');
    const closed: SqliteStorePorts['closed'] = (as) => {
      // A kept marker makes the next process treat the folder as crashed. Its log is merged, as far as it was readable.
      if (as === 'whole') rmSync(marker, { force: true });
      lock.release();
    };
    return assembleStore({ db, file, onFault, beforeClose, closed, elapsedMs, nextTurn });
  } catch (error) {
    undo();
    throw storeError(error, file);
  }
}

/** FULL flushes the WAL at every commit, unless `GroupCommit` does. The checkpointer replaces automatic checkpoints. */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: false });
  try {
    // It takes effect in a new file only. The file of an older folder gets it with `cairn doctor --compact`.
    if (db.prepare('PRAGMA page_count').get()?.page_count === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
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
