/** Opens the store of a data folder: locked for this process, checked after a crash, brought to the current shape. */
import { closeSync, existsSync, fdatasyncSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ListenerFault } from '../feed/followers.ts';
import { corrupt, storeError } from './errors.ts';
import type { ElapsedMs } from './group-commit.ts';
import { lockFolder } from './lock.ts';
import { migrate } from './migrations.ts';
import { assembleStore, type SqliteStore, type SqliteStorePorts } from './store.ts';

export type { SqliteStore } from './store.ts';

export interface SqliteStoreOptions {
  /** Where the database lives; made when it is not there. */
  readonly folder: string;
  /**
   * Told what went wrong beside any request: a listener of `follow` that throws, a checkpoint that failed.
   * Default: the error surfaces as an uncaught one.
   */
  readonly onFault?: ListenerFault;
  /** A clock that only goes forward, to know a slow disk by. Default: no disk is taken for one. */
  readonly elapsedMs?: ElapsedMs;
}

/** A check reads the whole file, so after a crash only a file up to this size is checked before the host serves. */
const CHECKED_BYTES = 67_108_864;

export async function openSqliteStore({ folder, onFault, elapsedMs }: SqliteStoreOptions): Promise<SqliteStore> {
  const file = join(folder, 'cairn.db');
  const marker = join(folder, 'cairn.running');
  let undo = (): void => {};
  try {
    // What runs did is nobody else's on this machine to read; a folder that is there is as its owner wants it.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = lockFolder(folder);
    undo = () => lock.release();
    const crashed = existsSync(marker);
    const db = openDatabase(file);
    undo = () => {
      db.close();
      lock.release();
    };
    db.exec('PRAGMA user_version'); // the first read of the file: anything but a database fails here
    if (crashed) check(db, file);
    if (crashed) makeLast(db);
    migrate(db, file);
    writeFileSync(marker, '');
    const closed: SqliteStorePorts['closed'] = (as) => {
      // The next to open the folder has to look at it as after a crash.
      if (as === 'whole') rmSync(marker, { force: true });
      lock.release();
    };
    return assembleStore({ db, file, onFault, closed, elapsedMs });
  } catch (error) {
    undo();
    throw storeError(error, file);
  }
}

/** FULL flushes the WAL at every commit, unless `GroupCommit` does; checkpoints are the checkpointer's, so the automatic ones are off. */
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
 * What a killed process had written and not flushed is read from now on, so it has to be on the disk. The copy is for
 * pages that the system dropped when a flush failed: it takes them from where they are read. Somebody who looks into the
 * folder may keep it from going all the way.
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
