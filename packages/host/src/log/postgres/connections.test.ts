/** Statements whose connection is lost: each is answered or fails, and the next one works. */
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connect, Database } from './database.ts';
import { sharedPostgres } from './server.kit.ts';

/** A way to the server whose connections can be reset, as by a machine that restarts. */
async function throughWay(connections: number): Promise<{ database: Database; reset: () => void }> {
  const url = new URL((await sharedPostgres()).url('postgres'));
  const port = Number(url.port);
  const sockets = new Set<Socket>();
  const way = createServer((socket) => {
    sockets.add(socket);
    const server = dial(port, url.hostname);
    for (const one of [socket, server]) one.on('error', () => undefined);
    socket.pipe(server).pipe(socket);
    socket.once('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  await once(way, 'listening');
  const address = way.address();
  if (address === null || typeof address === 'string') throw new Error('The way has no port.');
  url.port = String(address.port);
  const pool = connect({ url: url.href, connections });
  onTestFinished(async () => {
    await pool.end(0);
    for (const socket of sockets) socket.destroy();
    way.close();
  });
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  return { database: new Database(pool), reset };
}

it('answers the statement that follows a lost one at once', async () => {
  const { database, reset } = await throughWay(1);
  await database.rows('SELECT 1');
  const failing = database.rows('SELECT pg_sleep(60)');
  const next = failing.catch(async (error: unknown) => [error, await database.rows('SELECT 2')]);
  await database.transaction(async () => reset()).catch(() => undefined);
  const [error, rows] = await next;
  expect(error).toMatchObject({ code: 'store_failed', retryable: true });
  expect(rows).toEqual([[2]]);
});

it('answers statements that waited for the lost one, in order', async () => {
  const { database, reset } = await throughWay(1);
  await database.rows('SELECT 1');
  const failing = expect(database.rows('SELECT pg_sleep(60)')).rejects.toMatchObject({ code: 'store_failed' });
  const waiting = [1, 2, 3].map((n) => database.rows('SELECT $1::int', [n]));
  await database.transaction(async () => reset()).catch(() => undefined);
  await failing;
  expect(await Promise.all(waiting)).toEqual([[[1]], [[2]], [[3]]]);
});

it('uses a connection that came to rest before it opens another one, and no more than it may', async () => {
  const { database } = await throughWay(2);
  const pid = async () => (await database.rows<[number]>('SELECT pg_backend_pid()'))[0]?.[0];
  const first = await pid();
  expect([await pid(), await pid()]).toEqual([first, first]);
  expect(new Set(await Promise.all(Array.from({ length: 8 }, pid))).size).toBe(2);
});

it('fails what waits when the connections are closed', async () => {
  const pool = connect({ url: (await sharedPostgres()).url('postgres'), connections: 1 });
  const database = new Database(pool);
  await database.rows('SELECT 1');
  const underWay = database.rows("SELECT 'done' FROM pg_sleep(0.2)");
  const waiting = expect(database.rows('SELECT 1')).rejects.toMatchObject({ code: 'store_failed' });
  // The first one is sent meanwhile.
  await database.transaction(async (queries) => queries.rows('SELECT 1'));
  await pool.end();
  await waiting;
  expect(await underWay).toEqual([['done']]);
});
