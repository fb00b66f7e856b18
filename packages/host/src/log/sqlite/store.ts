/** Assembles the SQLite store: one connection that reads and writes, one thread that checkpoints. */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { storeClosed } from '../errors.ts';
import { Followers, type ListenerFault, uncaught } from '../feed/followers.ts';
import { inProcessCluster } from '../in-process-cluster.ts';
import type { Store } from '../ports/store.ts';
import type { RebuiltFaces } from '../wrong-faces.ts';
import { Appender } from './append/append.ts';
import { HeadCache } from './append/head-cache.ts';
import { RunWriter } from './append/run-writer.ts';
import { sqliteArtifacts } from './artifacts/artifacts.ts';
import { BlobTables } from './blobs/blob-tables.ts';
import { sqliteBlobs } from './blobs/blobs.ts';
import { sqliteChanges } from './changes.ts';
import { sqliteCheckpoints } from './checkpoints.ts';
import { type ElapsedMs, type Flush, GroupCommit, type Read } from './commit/group-commit.ts';
import { Checkpointer } from './commit/wal-checkpoint.ts';
import { walFlush } from './commit/wal-flush.ts';
import type { Connection } from './connection.ts';
import { ContextReader } from './contexts/context-reader.ts';
import { sqliteContexts } from './contexts/contexts.ts';
import { ContextSegments } from './contexts/segments.ts';
import { sqliteCredentials } from './credentials.ts';
import { sqliteDefinitions } from './definitions.ts';
import { storeError } from './errors.ts';
import { sqliteEventLog } from './event-log.ts';
import { sqliteExpiring } from './expiring.ts';
import { type FolderFacts, folderFacts } from './folder-facts.ts';
import { Forks } from './forks/fork-work.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqliteMemories } from './memories/memories.ts';
import { sqlitePacks } from './packs.ts';
import { sqliteQueue } from './queue.ts';
import { readTurns } from './read-turns.ts';
import { rebuildFaces } from './rebuild-faces.ts';
import { sqlitePurges } from './retention/purges.ts';
import { sqliteRetention } from './retention/retention.ts';
import { ListedRuns } from './run-index/listed-runs.ts';
import { sqliteRunIndex } from './run-index/run-index.ts';
import { TenantBytes } from './run-index/tenant-usage.ts';
import { Sessions } from './sessions.ts';
import { sqliteSubscriptions } from './subscriptions.ts';
import { SharedValues } from './values/shared-values.ts';

export interface SqliteStore extends Store {
  /** Transactions and rows committed since the store was opened; for measurements. */
  stats(): { readonly commits: number; readonly rows: number };
  /** The current size of the write-ahead log. */
  walBytes(): number;
  /** The size of the database and its write-ahead log. */
  fileBytes(): number;
  readonly facts: FolderFacts;
  /** Computes the task face of every row again, from the rows of its run. Only while nothing reads the store. */
  rebuildFaces(): Promise<RebuiltFaces>;
}

export interface SqliteStorePorts {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly onFault?: ListenerFault | undefined;
  /** Called before the database is closed, which merges the WAL and removes it. */
  readonly beforeClose?: (() => void) | undefined;
  /** Called once the database is closed: `whole`, or `broken` after a failed flush. */
  readonly closed: (as: 'whole' | 'broken') => void;
  /** Default: flushes the WAL in Node's thread pool. */
  readonly flush?: Flush | undefined;
  /** Default: no disk counts as slow. */
  readonly elapsedMs?: ElapsedMs | undefined;
  /** Calls back in a later turn of the event loop. Default: in the next one. */
  readonly nextTurn?: ((go: () => void) => void) | undefined;
}

/** A store over an open, migrated database without other writers. */
export function assembleStore({
  db,
  file,
  onFault = uncaught,
  beforeClose,
  closed,
  ...ports
}: SqliteStorePorts): SqliteStore {
  const listed = new ListedRuns(db);
  const heads = new HeadCache(db, listed);
  const sessions = new Sessions();
  const followers = new Followers(onFault);
  const usage = new TenantBytes(db);
  const blobs = new BlobTables(db);
  const runs = new RunWriter(db, { heads, listed });
  const segments = new ContextSegments(db);
  const values = new SharedValues(db);
  const appender = new Appender(db, { heads, runs, sessions, followers, usage, blobs, segments });
  const forks = new Forks(db, { heads, runs });
  const hooks = {
    beforeCommit: () => {
      heads.save();
      usage.save(appender.cursor);
    },
    rolledBack: () => appender.rolledBack(),
    afterCommit: (rows: number, bytes: number) => checkpointer.wrote(rows, bytes),
    broken: onFault,
  };
  // Next to the real file, even if the name in the folder is a link.
  const walFile = `${db.location()}-wal`;
  const wal = walFlush(walFile);
  const { flush = wal.flush, elapsedMs = () => 0, nextTurn = setImmediate } = ports;
  const writer = new GroupCommit(db, { file, flush, hooks, elapsedMs });
  const checkpointer = new Checkpointer(db, { file, writer, onFault });
  let closing: Promise<void> | null = null;

  const read: Read = (query) => {
    if (closing !== null) throw storeClosed();
    return writer.read(() => named(query, file));
  };
  const close = async (): Promise<void> => {
    await writer.close();
    await checkpointer.close();
    wal.close();
    beforeClose?.();
    db.close();
    closed(writer.isBroken ? 'broken' : 'whole');
  };
  const connection: Connection = { db, writer, read, values };
  const inTurn = readTurns(read, nextTurn);
  const contexts = new ContextReader(db, values);
  const log = sqliteEventLog({ ...connection, heads, appender, followers, forks, contexts, inTurn });
  return {
    log,
    changes: sqliteChanges(connection, inTurn),
    runIndex: sqliteRunIndex({ ...connection, heads, listed, usage }),
    contexts: sqliteContexts(connection, contexts),
    queue: sqliteQueue({ ...connection, heads, sessions }),
    definitions: sqliteDefinitions({ ...connection, usage, blobs }),
    ...recordPorts(connection),
    retention: sqliteRetention(connection, heads),
    purges: sqlitePurges({ ...connection, heads, usage, blobs, checkpointer }),
    artifacts: sqliteArtifacts({ ...connection, heads }),
    blobs: sqliteBlobs({ ...connection, tables: blobs, usage }),
    cluster: inProcessCluster(() => closing !== null, onFault),
    facts: folderFacts(connection),
    rebuildFaces: () => rebuildFaces(connection, log),
    stats: () => ({ commits: writer.commits, rows: appender.written }),
    walBytes: () => sizeOf(walFile),
    fileBytes: () => sizeOf(db.location() ?? file) + sizeOf(walFile),
    close: () => (closing ??= close()),
  };
}

/** Ports that need nothing but the connection. */
const recordPorts = (connection: Connection) => ({
  checkpoints: sqliteCheckpoints(connection),
  idempotency: sqliteIdempotency(connection),
  memories: sqliteMemories(connection),
  packs: sqlitePacks(connection),
  subscriptions: sqliteSubscriptions(connection),
  credentials: sqliteCredentials(connection),
  expiring: sqliteExpiring(connection),
});

/** Errors name the database. */
function named<Result>(query: () => Result, file: string): Result {
  try {
    return query();
  } catch (error) {
    throw storeError(error, file);
  }
}
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
