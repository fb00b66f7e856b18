/** Assembles the Postgres store: connections, the group commit of this node, and the ports over them. */
import { setTimeout as delay } from 'node:timers/promises';
import { Followers, type ListenerFault, uncaught } from '../feed/followers.ts';
import type { Store } from '../ports/store.ts';
import { GroupCommit } from './commit/group-commit.ts';
import { connect, Database, type Pool } from './database.ts';
import { postgresEventLog } from './event-log.ts';
import { HeadCache } from './heads.ts';
import { Horizon } from './horizon.ts';
import { checkSchema, migratePostgres } from './migrate.ts';
import { postgresIdempotency } from './records/idempotency.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Whether missing migrations are applied. Otherwise an old schema is refused. */
  readonly migrates?: boolean | undefined;
  readonly connections?: number | undefined;
  readonly onFault?: ListenerFault | undefined;
}

export type PostgresStore = Pick<Store, 'log' | 'idempotency' | 'close'> & {
  /** Transactions and rows committed by this process; for measurements. */
  stats(): { readonly commits: number; readonly rows: number };
};

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
  const commit = new GroupCommit({
    database,
    heads,
    writer,
    delay,
    deliver: (delivered) => {
      for (const { commits } of delivered) for (const one of commits) followers.tell(one);
    },
  });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    database.close();
    await commit.close();
    await closed?.();
  };
  return {
    log: postgresEventLog({ database, commit, followers, horizon }),
    idempotency: postgresIdempotency(database),
    stats: () => commit.stats,
    close: () => (closing ??= close()),
  };
}
