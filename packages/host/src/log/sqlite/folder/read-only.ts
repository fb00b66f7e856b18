/** Reads a data folder without changing it, even while a host uses it; for commands that need no host. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import { TerminalError } from '@cairn/protocol';
import { chainStart } from '../../chain.ts';
import type { RunFork } from '../../ports/event-log.ts';
import type { Row } from '../../ports/rows.ts';
import { BLOB_BODY } from '../blobs/blob-tables.ts';
import { storeError } from '../errors.ts';
import { lastRowReader } from '../forks/last-row.ts';
import { sharedRowReader } from '../forks/shared-row-reader.ts';
import { SharedRows } from '../forks/stretches.ts';
import { query } from '../query.ts';
import { PURGED_COLUMNS, type PurgedColumns, purgedOf } from '../retention/purged-runs.ts';
import { type StoredChecks, storedChecks } from '../verify/stored-checks.ts';
import { contextIndex } from './context-index.ts';
import type { KeptRun } from './kept-run.ts';
import { checkVersion } from './migrate.ts';
import type { Migration } from './migration.ts';
import { migrations } from './migrations.ts';
import { runSummaries } from './run-summaries.ts';

export type { KeptRun } from './kept-run.ts';

export interface ReadOnlyLog {
  /** Finds purged runs too. */
  run(runId: string): KeptRun | null;
  /** The run and every run below it, each after its parent, in an order that is the same in every folder. */
  tree(run: KeptRun): readonly KeptRun[];
  /** The ids of all runs, newest first, one at a time. Purged runs are left out. */
  runs(): Iterable<{ readonly runId: RunId; readonly parentRunId?: RunId }>;
  /** The ids of purged runs, one at a time. */
  purgedRuns(): Iterable<RunId>;
  /** Every row in order, one at a time. */
  rows(run: KeptRun): Iterable<Row>;
  /** The hash of one event; null if the run does not have it. */
  hashAt(run: KeptRun, seq: number): string | null;
  definition(hash: string): string | null;
  blob(tenant: string, sha256: string): Uint8Array | null;
  /** Compares what the database holds with the events. */
  readonly checks: StoredChecks;
  /** The first damage SQLite finds in the file; null when there is none. */
  damage(): string | null;
  /** Tenants with workflows or runs, sorted by name. */
  tenants(): readonly string[];
  /** The runs that failed with this code, oldest first, at most `limit`. */
  failedWith(errorCode: string, limit: number): readonly RunId[];
  /** Number of runs and events. */
  size(): { readonly runs: number; readonly events: number };
  close(): void;
}

/** All reads see one snapshot, taken at the first read. */
export function openReadOnly(folder: string): ReadOnlyLog {
  const file = join(folder, 'cairn.db');
  if (!existsSync(file)) {
    throw new TerminalError('not_found', {
      message: `${folder} is not a data folder: it has no cairn.db.`,
      hint: 'Name the folder with --data, or run the command where "cairn dev" or "cairn start" runs.',
    });
  }
  const guarded = <Result>(read: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      throw storeError(error, file);
    }
  };
  const db = guarded(() => opened(file));
  const failed = once(() => query<[id: RunId]>(db, 'SELECT id FROM runs WHERE error_code = ? ORDER BY key LIMIT ?'));
  const hashes = once(() => hashReader(db, run));
  const definition = once(() => query<[body: string]>(db, 'SELECT body FROM definitions WHERE hash = ?'));
  const blob = once(() => query<[body: Uint8Array<ArrayBuffer>]>(db, BLOB_BODY));
  const checks = once(() => {
    requireMigration(db, file, runSummaries);
    return storedChecks(db);
  });
  const findRun = guarded(() => runReader(db, file));
  const purged = guarded(() => purgedRuns(db));
  const run = (id: string): KeptRun | null => guarded(() => findRun(id) ?? purged.run(id));
  return {
    run,
    tree: (top) => guarded(() => idsBelow(db, top)).flatMap((id) => run(id) ?? []),
    *runs() {
      try {
        yield* runIds(db);
      } catch (error) {
        throw storeError(error, file);
      }
    },
    purgedRuns: () => purged.ids(),
    *rows(run) {
      try {
        yield* eventRows(db, run);
      } catch (error) {
        throw storeError(error, file);
      }
    },
    hashAt: (kept, seq) => guarded(() => hashes()(kept, seq)),
    checks: {
      run: (kept, rows, report) => guarded(() => checks().run(kept, rows, report)),
      folder: (report, doubt) => guarded(() => checks().folder(report, doubt)),
    },
    definition: (hash) => guarded(() => definition().get(hash)?.[0] ?? null),
    blob: (tenant, sha256) => guarded(() => blob().get(tenant, sha256)?.[0] ?? null),
    damage: () =>
      guarded(() => {
        const found = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check);
        return found === 'ok' ? null : found;
      }),
    tenants: () =>
      guarded(() =>
        db
          .prepare('SELECT tenant FROM workflows UNION SELECT tenant FROM runs ORDER BY tenant')
          .all()
          .map((found) => String(found.tenant)),
      ),
    failedWith: (errorCode, limit) =>
      guarded(() =>
        failed()
          .all(errorCode, limit)
          .map(([id]) => id),
      ),
    size: () =>
      guarded(() => {
        const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
        return { runs: count('runs'), events: count('events') };
      }),
    close: () => db.close(),
  };
}

/** The hash of a row, or of what is left of it. A fork has rows of its source; an imported fork has all rows itself. */
function hashReader(db: DatabaseSync, find: (id: string) => KeptRun | null) {
  const kept = query<[hash: string]>(db, 'SELECT hash FROM events WHERE run = ? AND seq = ?');
  const retired = query<[hash: string]>(db, 'SELECT hash FROM tombstones WHERE run = ? AND seq = ?');
  return (run: KeptRun, seq: number): string | null => {
    for (let owner: KeptRun | null = run; owner !== null; owner = owner.fork && find(owner.fork.sourceRunId)) {
      const found = kept.get(owner.key, seq) ?? retired.get(owner.key, seq);
      if (found !== undefined) return found[0];
      if (seq >= (owner.fork?.fromSeq ?? 0)) return null;
    }
    return null;
  };
}

/** Most commands need no checks, so their statements are prepared at the first use. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function runReader(db: DatabaseSync, file: string): (id: string) => KeptRun | null {
  const one = query<
    [
      key: number,
      runId: RunId,
      tenant: string,
      contextId: ContextId,
      originRunId: RunId,
      parentRunId: RunId | null,
      definitionHash: string,
      status: string,
    ]
  >(db, 'SELECT key, id, tenant, context, origin, parent, definition, status FROM runs WHERE id = ?');
  return (id) => {
    const found = one.get(id);
    if (found === undefined) return null;
    checkRows(db, file);
    const [key, runId, tenant, contextId, originRunId, parentRunId, definitionHash, status] = found;
    const fork = forkOf(db, key);
    const last = lastRowReader(db)(new SharedRows(db).of(key, fork));
    const { seq, hash } = last ?? { seq: -1, hash: chainStart(originRunId) };
    const identity = { key, runId, tenant, contextId, originRunId, parentRunId, definitionHash };
    return { ...identity, fork, status, seq, hash, purgedAt: null };
  };
}

/** The run first, then its children with theirs, by the instant of their first row and their id. */
function idsBelow(db: DatabaseSync, top: KeptRun): readonly RunId[] {
  const inContext = query<[id: RunId, parent: RunId]>(
    db,
    'SELECT id, parent FROM runs WHERE context = ? AND parent IS NOT NULL ORDER BY created_at, id',
  );
  const children = new Map<RunId, RunId[]>();
  for (const [id, parent] of inContext.iterate(top.contextId)) {
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [id]);
    else known.push(id);
  }
  const found: RunId[] = [];
  const open = [top.runId];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    found.push(id);
    open.push(...(children.get(id) ?? []).toReversed());
  }
  return found;
}

function* runIds(db: DatabaseSync): Generator<{ readonly runId: RunId; readonly parentRunId?: RunId }> {
  const ids = query<[id: RunId, parent: RunId | null]>(db, 'SELECT id, parent FROM runs ORDER BY key DESC');
  for (const [runId, parent] of ids.iterate()) yield parent === null ? { runId } : { runId, parentRunId: parent };
}

/** An older folder has hashes of another recipe, which would all look wrong here, no forks, and faces without columns. */
const checkRows = (db: DatabaseSync, file: string): void => requireMigration(db, file, contextIndex);

function requireMigration(db: DatabaseSync, file: string, migration: Migration): void {
  const version = checkVersion(db, file);
  if (version >= migrations.indexOf(migration) + 1) return;
  throw new TerminalError('store_older', {
    message: `The database ${file} has version ${version}; this program reads runs of version ${migrations.length}.`,
    hint: 'Start the host once on this folder, or run "cairn doctor --rebuild": both migrate it.',
    details: { version, known: migrations.length },
  });
}

/** The rows of a run, or what is left of them; those of a fork begin in other runs. */
const eventRows = (db: DatabaseSync, { key, fork, ...run }: KeptRun): Iterable<Row> =>
  sharedRowReader(db)(run, new SharedRows(db).of(key, fork));

function forkOf(db: DatabaseSync, key: number): KeptRun['fork'] {
  const fork = query<[sourceRunId: RunId | null, fromSeq: number, mode: RunFork['mode']]>(
    db,
    'SELECT fork_source, fork_seq, fork_mode FROM runs WHERE key = ?',
  );
  const [sourceRunId = null, fromSeq = 0, mode = 'branch'] = fork.get(key) ?? [];
  return sourceRunId === null ? null : { sourceRunId, fromSeq, mode };
}

/** Purged runs. A folder that no host has opened since there is retention has none. */
function purgedRuns(db: DatabaseSync) {
  const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'purged_runs'").get() !== undefined;
  if (!hasTable) return { run: () => null, ids: () => [] };
  const one = query<[key: number, ...PurgedColumns]>(db, `SELECT key, ${PURGED_COLUMNS} FROM purged_runs WHERE id = ?`);
  const ids = query<[id: RunId]>(db, 'SELECT id FROM purged_runs ORDER BY key');
  return {
    run: (id: string): KeptRun | null => {
      const found = one.get(id);
      if (found === undefined) return null;
      const [key, ...columns] = found;
      return { ...purgedOf(columns), key, definitionHash: '', status: 'purged' };
    },
    *ids(): Iterable<RunId> {
      for (const [id] of ids.iterate()) yield id;
    },
  };
}

function opened(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    checkVersion(db, file);
    db.exec('BEGIN');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
