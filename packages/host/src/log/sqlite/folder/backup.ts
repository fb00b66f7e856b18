/**
 * Backups: one file with a consistent copy of a data folder, made while a host uses it. The file is a database: that of
 * the folder, with two tables more, for the files of runs and for facts of the backup.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { isCairnError, quoted, type RunId, TerminalError } from '@cairn/protocol';
import { ChainWalk } from '../../chain-walk.ts';
import { isTombstone } from '../../ports/rows.ts';
import { corrupt, storeError } from '../errors.ts';
import { checkVersion } from './migrate.ts';
import { narrow } from './private-files.ts';
import { type KeptRun, openReadOnly, type ReadOnlyLog } from './read-only.ts';

/** Pages copied in one step. The host waits for none of them: it writes to its log meanwhile. */
const STEP_PAGES = 1_000;

const KEY_FILE = 'host.key';

export interface BackupOptions {
  /** Also the key that opens sealed values. Every reader of the file can then open them. */
  readonly hasKey: boolean;
  readonly at: number;
  readonly onProgress?: ((copied: number, pages: number) => void) | undefined;
}

export interface BackupFacts {
  readonly at: number;
  readonly runs: number;
  readonly events: number;
  readonly files: number;
  readonly hasKey: boolean;
}

/** Copies a data folder into a new file. All of the database is of one instant; files of runs may be newer. */
export async function backupFolder(folder: string, file: string, options: BackupOptions): Promise<BackupFacts> {
  refuseExisting(file);
  const source = join(folder, 'cairn.db');
  const db = snapshotOf(folder, source);
  const draft = `${file}.part`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, '', { mode: 0o600 });
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }): void =>
      options.onProgress?.(totalPages - remainingPages, totalPages);
    await backup(db, draft, { rate: STEP_PAGES, progress });
    const added = addFiles(draft, folder, options);
    narrow(draft);
    renameSync(draft, file);
    return { at: options.at, ...added, hasKey: options.hasKey };
  } catch (error) {
    rmSync(draft, { force: true });
    throw copyError(error, { source, draft, file });
  } finally {
    db.close();
  }
}

/** A backup never replaces a file. */
export function refuseExisting(file: string): void {
  if (existsSync(file)) throw exists(file, 'Choose another name, or delete the file.');
}

/** An open read transaction: the copy does not begin again whenever the host writes. */
function snapshotOf(folder: string, source: string): DatabaseSync {
  openReadOnly(folder).close(); // refuses what is not a data folder, or a newer one
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5_000 });
  db.exec('BEGIN');
  db.prepare('SELECT 1 FROM runs LIMIT 1').get();
  return db;
}

function addFiles(draft: string, folder: string, { hasKey, at }: BackupOptions) {
  using db = new DatabaseSync(draft);
  // A single file: without a write-ahead log beside it.
  db.exec('PRAGMA journal_mode = DELETE');
  db.exec('CREATE TABLE backup_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT');
  db.exec('CREATE TABLE backup_files (path TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT');
  const add = db.prepare('INSERT INTO backup_files VALUES (?, ?)');
  let files = 0;
  for (const path of runFiles(folder)) {
    add.run(path, readFileSync(join(folder, path)));
    files += 1;
  }
  if (hasKey) {
    if (!existsSync(join(folder, KEY_FILE))) throw noKey(folder);
    add.run(KEY_FILE, readFileSync(join(folder, KEY_FILE)));
  }
  const fact = db.prepare('INSERT INTO backup_facts VALUES (?, ?)');
  fact.run('at', String(at));
  fact.run('last', String(lastCursor(db)));
  const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  return { runs: count('runs'), events: count('events'), files };
}

const lastCursor = (db: DatabaseSync): number =>
  Number(db.prepare('SELECT max(cursor) AS last FROM events').get()?.last ?? 0);

/** The files below `runs`, without links and without drafts. */
function* runFiles(folder: string): Generator<string> {
  const root = join(folder, 'runs');
  if (!existsSync(root)) return;
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    yield join(entry.parentPath, entry.name)
      .slice(folder.length + 1)
      .split(sep)
      .join('/');
  }
}

/** Checks a backup and makes a new data folder of it. A backup that is damaged leaves nothing behind. */
export function restoreFolder(file: string, folder: string): BackupFacts {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw exists(folder, 'Name a folder that does not exist: a restore never changes existing data.');
  }
  requireFile(file);
  const draft = `${folder}.restoring`;
  rmSync(draft, { recursive: true, force: true });
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(draft, { mode: 0o700 });
    const facts = unpack(file, draft);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
    return facts;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw restoreError(error, file);
  }
}

/** The folder is only read, so what cannot be written is the copy. An error of its path names it already. */
function copyError(error: unknown, { source, draft, file }: Record<'source' | 'draft' | 'file', string>): unknown {
  if (error instanceof Error && 'path' in error && error.path === draft) return error;
  const known = storeError(error, source);
  return known.code === 'store_full' ? noRoom(file, error) : known;
}

const noRoom = (file: string, cause: unknown): TerminalError =>
  new TerminalError('store_full', {
    message: `No space is left to write ${file}.`,
    hint: 'Name a file on a disk with more room.',
    cause,
  });

/** Nothing is wrong with the host's own data when a backup is damaged. */
function restoreError(error: unknown, file: string): unknown {
  if (error instanceof Error && 'syscall' in error) return error;
  const known = storeError(error, file);
  if (known.code !== 'store_corrupt' || isCairnError(error)) return known;
  return new TerminalError('store_corrupt', { message: known.message, hint: ANOTHER, cause: error });
}

const ANOTHER = 'Name a file that "cairn backup" wrote, or take another backup.';

function unpack(file: string, draft: string): BackupFacts {
  const target = join(draft, 'cairn.db');
  copyFileSync(file, target);
  narrow(target);
  const { at, files, hasKey } = unpackFiles(file, target, draft);
  const log = openReadOnly(draft);
  try {
    checkChains(log, file);
    return { at, ...log.size(), files, hasKey };
  } finally {
    log.close();
  }
}

function unpackFiles(file: string, target: string, draft: string) {
  using db = new DatabaseSync(target, { timeout: 5_000 });
  const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'backup_facts'").get() !== undefined;
  if (!hasTable) throw noBackup(file);
  refusePrograms(db, file);
  checkVersion(db, file);
  const found = String(db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check);
  if (found !== 'ok') throw corrupt(file, found);
  const fact = (name: string): string =>
    String(db.prepare('SELECT value FROM backup_facts WHERE name = ?').get(name)?.value);
  if (fact('last') !== String(lastCursor(db))) throw corrupt(file, `its last event is not ${fact('last')}`);
  let files = 0;
  let hasKey = false;
  for (const { path, body } of db.prepare('SELECT path, body FROM backup_files').iterate()) {
    const name = safePath(String(path), file);
    mkdirSync(dirname(join(draft, name)), { recursive: true, mode: 0o700 });
    if (!(body instanceof Uint8Array)) throw corrupt(file, `the file ${name} has no content`);
    writeFileSync(join(draft, name), body, { mode: 0o600 });
    if (name === KEY_FILE) hasKey = true;
    else files += 1;
  }
  const at = Number(fact('at'));
  db.exec('DROP TABLE backup_facts; DROP TABLE backup_files;');
  return { at, files, hasKey };
}

/** No host writes triggers or views. In a file from elsewhere they would change what a host writes or reads later. */
function refusePrograms(db: DatabaseSync, file: string): void {
  const found = db.prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1").get();
  if (found !== undefined) throw corrupt(file, `it has a ${found.type} ${quoted(String(found.name), 40)}`);
}

/** A path in a file from elsewhere must not lead out of the folder. */
function safePath(path: string, file: string): string {
  const isSafe =
    path === KEY_FILE ||
    (path.startsWith('runs/') && path.split('/').every((part) => /^(?!\.{1,2}$)[^\\\0]+$/.test(part)));
  if (!isSafe) throw corrupt(file, 'it holds a file outside the folders of runs');
  return path;
}

/** Walks the rows of every run, purged ones among them. */
function checkChains(log: ReadOnlyLog, file: string): void {
  const ids: RunId[] = [...log.purgedRuns()];
  for (const { runId } of log.runs()) ids.push(runId);
  for (const id of ids) {
    const run = log.run(id);
    const wrong = run === null ? 'it cannot be found by its id' : brokenAt(log, run);
    if (wrong !== null) throw corrupt(file, `run ${id}: ${wrong}`);
  }
}

/** What is wrong with the first row that does not follow from the one before; null when nothing is. */
function brokenAt(log: ReadOnlyLog, run: KeptRun): string | null {
  const walk = new ChainWalk(run.originRunId);
  for (const row of log.rows(run)) {
    const wrong = walk.add({ ...row, payload: isTombstone(row) ? null : row.payload });
    if (wrong !== null) return wrong;
  }
  const isWhole = walk.next === run.seq + 1 && walk.hash === run.hash;
  return isWhole ? null : `it ends with event ${walk.next - 1}, but the backup says with event ${run.seq}`;
}

/** Rewrites the database of a folder that no host uses: it takes no more space than it needs, and can shrink later. */
export function compactFolder(folder: string): { readonly before: number; readonly after: number } {
  const file = join(folder, 'cairn.db');
  const before = statSync(file).size;
  {
    using db = new DatabaseSync(file, { timeout: 5_000 });
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    db.exec('VACUUM');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  return { before, after: statSync(file).size };
}

function requireFile(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() === true) return;
  throw new TerminalError('not_found', {
    message: stat === undefined ? `There is no file ${file}.` : `${file} is not a file.`,
    hint: 'Name the file that "cairn backup" wrote.',
  });
}

const exists = (path: string, hint: string): TerminalError =>
  new TerminalError('conflict', { message: `${path} exists already.`, hint, details: { path } });

const noBackup = (file: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `${file} is not a backup: it was not written by "cairn backup".`,
    hint: 'A copied data folder needs no restore: start the host on it.',
  });

const noKey = (folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `${folder} has no host.key, so the backup cannot hold it.`,
    hint: 'A host with masterKey needs none. Leave --include-key out.',
  });
