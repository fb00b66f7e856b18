/** The Postgres of a measurement: a real server with its own defaults, on the disk whose flushes are counted. */
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { connect, Database } from '../../packages/host/src/log/postgres/database.ts';
import { startDatabase } from '../../packages/host/test/kit/test-database.ts';
import { freshFolder, type Plan } from '../plan.ts';

export interface MeasuredServer extends AsyncDisposable {
  readonly version: string;
  /** The URL of a new, empty database. */
  database(): Promise<string>;
}

/** Settings without which a commit is not durable. */
const DURABLE = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

export async function startMeasuredServer(plan: Plan): Promise<MeasuredServer> {
  const folder = freshFolder(plan, 'postgres');
  // A server that does not run as this user must be able to enter its folder.
  chmodSync(plan.folder, 0o755);
  const server = await startDatabase(folder);
  // A benchmark that is interrupted has no time to stop it in order.
  const kill = () =>
    process.kill(Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGQUIT');
  process.once('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    await server.stop();
  };
  let databases = 0;
  try {
    return {
      version: await durableVersion(server.url),
      database: async () => {
        databases += 1;
        const url = new URL(server.url);
        url.pathname = `/bench_${databases}`;
        await run(server.url, `CREATE DATABASE bench_${databases}`);
        return url.href;
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function run(url: string, statement: string): Promise<void> {
  const pool = connect({ url, connections: 1 });
  try {
    await new Database(pool).changed(statement);
  } finally {
    await pool.end();
  }
}

/** A server that acknowledges before it flushes would make every figure meaningless. */
async function durableVersion(url: string): Promise<string> {
  const pool = connect({ url, connections: 1 });
  try {
    const database = new Database(pool);
    for (const setting of DURABLE) {
      const [[value] = ['?']] = await database.rows<[string]>(`SHOW ${setting}`);
      if (value === 'on') continue;
      throw new TerminalError('internal_error', { message: `The server runs with ${setting} = ${value}.` });
    }
    const [[version] = ['?']] = await database.rows<[string]>('SHOW server_version');
    return version;
  } finally {
    await pool.end();
  }
}
