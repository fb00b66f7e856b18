/** Assembles the Postgres store: connections, the group commit of this node, and the ports over them. */
import { setTimeout as delay } from 'node:timers/promises';
import { Followers, type ListenerFault, uncaught } from '../feed/followers.ts';
import type { Store } from '../ports/store.ts';
import type { RebuiltFaces } from '../wrong-faces.ts';
import { postgresArtifacts } from './artifacts/artifacts.ts';
import { postgresChanges } from './changes.ts';
import { type CommitTail, GroupCommit } from './commit/group-commit.ts';
import { connect, Database, type Pool } from './database.ts';
import { postgresEventLog } from './event-log.ts';
import { foldUsage } from './fold-usage.ts';
import { Tail } from './follow/tail.ts';
import { WakeUps } from './follow/wake-ups.ts';
import { HeadCache } from './heads.ts';
import { Horizon } from './horizon.ts';
import { KnownTenants } from './known-tenants.ts';
import { postgresMemories } from './memories/memories.ts';
import { checkSchema, migratePostgres } from './migrate.ts';
import { postgresQueue } from './queue.ts';
import { Readers } from './readers.ts';
import { rebuildFaces } from './rebuild-faces.ts';
import { postgresBlobs } from './records/blobs.ts';
import { postgresCheckpoints } from './records/checkpoints.ts';
import { postgresCluster } from './records/cluster.ts';
import { postgresCredentials } from './records/credentials.ts';
import { postgresDefinitions } from './records/definitions.ts';
import { postgresExpiring } from './records/expiring.ts';
import { postgresIdempotency } from './records/idempotency.ts';
import { Notices } from './records/notices.ts';
import { postgresPacks } from './records/packs.ts';
import { refuseHalfMoved, type StoreFacts, storeFacts } from './records/store-facts.ts';
import { postgresSubscriptions } from './records/subscriptions.ts';
import { postgresPurges } from './retention/purges.ts';
import { postgresRetention } from './retention/retention.ts';
import { SharedValues } from './rows/shared-values.ts';
import { postgresContexts } from './run-index/contexts.ts';
import { postgresRunIndex } from './run-index/run-index.ts';

/** No statement of a node takes as long, unless the database is gone and nothing says so. */
const DEADLINE_MS = 30_000;

/**
 * Pages and blobs that are read at a time, and questions about contexts and artifacts. A thousand clients that come at once ask thousands: starts,
 * commits and leases of other tenants have connections beside them.
 */
const READS = { each: 5, together: 7 };

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Where to listen, if `url` leads to a transaction pooler. Default: `url`. */
  readonly listenUrl?: string | undefined;
  /** Whether missing migrations are applied. Otherwise an old schema is refused. */
  readonly migrates?: boolean | undefined;
  readonly connections?: number | undefined;
  /** How long a statement may take, beside migrations. Default: 30 s. */
  readonly deadlineMs?: number | undefined;
  readonly onFault?: ListenerFault | undefined;
  /** A monotonic clock in milliseconds. */
  readonly elapsedMs: () => number;
  /** Calls back in the next turn of the event loop. Default: `setImmediate`. */
  readonly nextTurn?: ((go: () => void) => void) | undefined;
}

export interface PostgresStore extends Store {
  readonly facts: StoreFacts;
  /** Transactions and rows committed by this process; for measurements. */
  stats(): { readonly commits: number; readonly rows: number };
  /** Computes the task face of every row again, from the rows of its run. */
  rebuildFaces(): Promise<RebuiltFaces>;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, listenUrl = url, connections, deadlineMs = DEADLINE_MS } = options;
  if (options.migrates === true) await migrateAt(url);
  const pool = connect({ url, connections, deadlineMs });
  const listener = connect({ url: listenUrl, connections: 1, deadlineMs });
  const end = async (): Promise<void> => {
    await Promise.all([pool.end(), listener.end(0)]);
  };
  try {
    const database = new Database(pool);
    await checkSchema(database);
    await refuseHalfMoved(database);
    const { onFault, elapsedMs, nextTurn } = options;
    return await assemblePostgresStore(pool, { listener, onFault, elapsedMs, nextTurn, closed: end });
  } catch (error) {
    await end();
    throw error;
  }
}

/** Takes the time it needs. */
async function migrateAt(url: string): Promise<void> {
  const pool = connect({ url, connections: 1 });
  try {
    await migratePostgres(new Database(pool));
  } finally {
    await pool.end();
  }
}

interface AssembleOptions {
  /** The connection that hears of the commits of other nodes. Without it, followers hear of own commits only. */
  readonly listener?: Pool | undefined;
  readonly onFault?: ListenerFault | undefined;
  /** A monotonic clock in milliseconds, for notifications under load. */
  readonly elapsedMs?: (() => number) | undefined;
  readonly nextTurn?: PostgresStoreOptions['nextTurn'];
  /** Called once nothing uses the pool any more. */
  readonly closed?: (() => Promise<void>) | undefined;
}

/** Commits are told here, and to other nodes: right behind the commit, or after it. */
const tellingOthers = (tail: Tail, wakeUps: WakeUps | null): CommitTail => ({
  begin: () => tail.begin(),
  behind: (admission) => wakeUps?.behind(admission) ?? null,
  deliver: (delivered, isTold) => {
    if (!isTold) wakeUps?.notify(delivered.flatMap(({ commits }) => commits));
    return tail.deliver(delivered);
  },
  lose: (contexts) => tail.lose(contexts),
});

/** The number of this process among those that write. */
async function beginWriting(database: Database): Promise<number> {
  const [[writer] = [0]] = await database.rows<[number]>("SELECT nextval('cairn.writers')::integer");
  await foldUsage(database, writer);
  return writer;
}

/** A store over connections to a database with the current schema. */
export async function assemblePostgresStore(
  pool: Pool,
  { listener, onFault = uncaught, elapsedMs = () => 0, nextTurn = setImmediate, closed }: AssembleOptions,
): Promise<PostgresStore> {
  const database = new Database(pool);
  const writer = await beginWriting(database);
  const tenants = new KnownTenants();
  const readers = new Readers({ ...READS, database, tenants, nextTurn });
  const heads = new HeadCache(tenants);
  const values = new SharedValues();
  const followers = new Followers(onFault);
  const horizon = new Horizon(database, delay);
  const tail = new Tail({ queries: database.accepted, horizon, followers, writer }, await horizon.start());
  // A look that is under way when the store is closed finds nothing, and nobody misses it.
  const unlessClosed: ListenerFault = (error) => {
    if (!database.isClosed) onFault(error);
  };
  const wakeUps =
    listener === undefined
      ? null
      : new WakeUps({
          queries: database.accepted,
          listener,
          channel: await storeFacts(database).channel(),
          name: String(writer),
          isWanted: (of) => followers.isWanted(of),
          tellNews: (news) => tail.tellNews(news),
          readContexts: (contexts) => tail.readContexts(contexts),
          look: () => tail.read(),
          onFault: unlessClosed,
          elapsedMs,
        });
  const told = tellingOthers(tail, wakeUps);
  const commit = new GroupCommit({ database, heads, writer, delay, tail: told });
  wakeUps?.open();
  const notices = await Notices.open(database, { delay, onFault, listener: new Database(listener ?? pool) });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    database.close();
    await notices.close();
    await commit.close();
    await wakeUps?.close();
    await closed?.();
  };
  const log = postgresEventLog({ database, readers, values, commit, followers, heads, writer, tail: told });
  return {
    log,
    changes: postgresChanges(database, horizon, values),
    runIndex: postgresRunIndex(database, heads),
    contexts: postgresContexts(readers),
    queue: postgresQueue(database, tenants),
    ...databasePorts(database),
    definitions: postgresDefinitions({ database, writer, bytes: commit.bytes }),
    purges: postgresPurges(database, writer),
    artifacts: postgresArtifacts(database, readers),
    blobs: postgresBlobs({ database, readers, writer, bytes: commit.bytes }),
    cluster: postgresCluster(database, notices),
    facts: storeFacts(database),
    stats: () => commit.stats,
    rebuildFaces: () => rebuildFaces(database, log),
    close: () => (closing ??= close()),
  };
}

/** Ports that need nothing but the database. */
const databasePorts = (database: Database) => ({
  checkpoints: postgresCheckpoints(database),
  idempotency: postgresIdempotency(database),
  memories: postgresMemories(database),
  packs: postgresPacks(database),
  subscriptions: postgresSubscriptions(database),
  credentials: postgresCredentials(database),
  retention: postgresRetention(database),
  expiring: postgresExpiring(database),
});
