/** Assembles the Postgres store: connections, the group commit of this node, and the ports over them. */
import { setTimeout as delay } from 'node:timers/promises';
import { Followers, type ListenerFault, uncaught } from '../feed/followers.ts';
import type { Store } from '../ports/store.ts';
import { postgresArtifacts } from './artifacts/artifacts.ts';
import { type Deliver, GroupCommit } from './commit/group-commit.ts';
import { connect, Database, type Pool } from './database.ts';
import { postgresEventLog } from './event-log.ts';
import { HeadCache } from './heads.ts';
import { Horizon } from './horizon.ts';
import { postgresMemories } from './memories/memories.ts';
import { checkSchema, migratePostgres } from './migrate.ts';
import { postgresQueue } from './queue.ts';
import { postgresBlobs } from './records/blobs.ts';
import { postgresCheckpoints } from './records/checkpoints.ts';
import { postgresCredentials } from './records/credentials.ts';
import { postgresDefinitions } from './records/definitions.ts';
import { postgresIdempotency } from './records/idempotency.ts';
import { postgresPacks } from './records/packs.ts';
import { postgresSubscriptions } from './records/subscriptions.ts';
import { postgresRetention } from './retention/retention.ts';
import { postgresRunIndex } from './run-index/run-index.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Whether missing migrations are applied. Otherwise an old schema is refused. */
  readonly migrates?: boolean | undefined;
  readonly connections?: number | undefined;
  readonly onFault?: ListenerFault | undefined;
}

export interface PostgresStore extends Store {
  /** Transactions and rows committed by this process; for measurements. */
  stats(): { readonly commits: number; readonly rows: number };
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const pool = connect(options);
  try {
    const database = new Database(pool);
    if (options.migrates === true) await migratePostgres(database);
    else await checkSchema(database);
    return await assemblePostgresStore(pool, { onFault: options.onFault, closed: () => pool.end() });
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface AssembleOptions {
  readonly onFault?: ListenerFault | undefined;
  /** Called once nothing uses the pool any more. */
  readonly closed?: (() => Promise<void>) | undefined;
}

/** A store over connections to a database with the current schema. */
export async function assemblePostgresStore(
  pool: Pool,
  { onFault = uncaught, closed }: AssembleOptions,
): Promise<PostgresStore> {
  const database = new Database(pool);
  const [[writer] = [0]] = await database.rows<[number]>("SELECT nextval('cairn.writers')::integer");
  const heads = new HeadCache();
  const followers = new Followers(onFault);
  const horizon = new Horizon(database, delay);
  const deliver: Deliver = (delivered) => {
    for (const { commits } of delivered) for (const one of commits) followers.tell(one);
  };
  const commit = new GroupCommit({ database, heads, writer, delay, deliver });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    database.close();
    await commit.close();
    await closed?.();
  };
  return {
    log: postgresEventLog({ database, commit, followers, horizon, heads, writer, deliver }),
    runIndex: postgresRunIndex(database, heads),
    queue: postgresQueue(database),
    definitions: postgresDefinitions(database),
    checkpoints: postgresCheckpoints(database),
    idempotency: postgresIdempotency(database),
    memories: postgresMemories(database),
    packs: postgresPacks(database),
    subscriptions: postgresSubscriptions(database),
    credentials: postgresCredentials(database),
    retention: postgresRetention(database, writer),
    artifacts: postgresArtifacts(database),
    blobs: postgresBlobs(database, writer, commit.bytes),
    stats: () => commit.stats,
    close: () => (closing ??= close()),
  };
}
