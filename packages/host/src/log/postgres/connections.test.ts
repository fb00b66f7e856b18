/** Statements whose connection is lost: each is answered or fails, and the next one works. */
import { expect, it, onTestFinished } from 'vitest';
import { connect, Database } from './database.ts';
import { sharedPostgres } from './server.kit.ts';
import { type Way, wayTo } from './way.kit.ts';

async function throughWay(connections: number, deadlineMs?: number): Promise<Way & { readonly database: Database }> {
  const way = await wayTo((await sharedPostgres()).url('postgres'));
  const pool = connect({ url: way.url, connections, deadlineMs });
  onTestFinished(() => pool.end(0));
  return { ...way, database: new Database(pool) };
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

it('lets tenants, the store itself and accepted work take turns for a connection', async () => {
  const { database } = await throughWay(1);
  const order: string[] = [];
  const asked = ['a', 'a', 'a', 'b', undefined].map(async (tenant) => {
    await database.of(tenant).rows('SELECT 1');
    order.push(tenant ?? 'unknown');
  });
  const own = [1, 2].map(() => database.rows('SELECT 1').then(() => order.push('store')));
  const accepted = database.accepted.rows('SELECT 1').then(() => order.push('accepted'));
  await Promise.all([...asked, ...own, accepted]);
  expect(order).toEqual(['a', 'a', 'b', 'unknown', 'store', 'accepted', 'a', 'store']);
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

it('fails what is not answered in time, says so, and answers the next statement on another connection', async () => {
  const { database, silence } = await throughWay(1, 500);
  await database.rows('SELECT 1');
  silence('requests', 'answers');
  const waiting = [1, 2].map((n) => database.rows('SELECT $1::int', [n]));
  await expect(waiting[0]).rejects.toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: expect.stringContaining('no answer within 0.5 s'),
  });
  expect(await waiting[1]).toEqual([[2]]);
});

it('fails a transaction that is not answered in time, and what it did is not kept', async () => {
  const { database, silence } = await throughWay(1, 500);
  const { database: other } = await throughWay(1);
  await other.changed('CREATE TABLE silent (n int)');
  const failing = database.transaction(async (queries) => {
    await queries.changed('INSERT INTO silent VALUES (1)');
    silence('requests', 'answers');
    await queries.changed('INSERT INTO silent VALUES (2)');
  });
  await expect(failing).rejects.toMatchObject({ code: 'store_failed', retryable: true });
  expect(await other.rows('SELECT n FROM silent')).toEqual([]);
  // Nor are its locks, although the server does not know that nobody is there.
  await other.changed('DROP TABLE silent');
});

it('sends a statement right behind another one, answers as the first, and takes the next once both are over', async () => {
  const { database } = await throughWay(1);
  const pid = { text: 'SELECT pg_backend_pid()', values: [] };
  const fails = { text: 'SELECT 1 / $1::int', values: [0] };
  const [[first] = []] = await database.acceptedPair<[number]>(pid, fails);
  expect(await database.rows('SELECT pg_backend_pid()')).toEqual([[first]]);
  await expect(database.acceptedPair(fails, pid)).rejects.toMatchObject({ code: '22012' });
  expect(await database.rows('SELECT 3')).toEqual([[3]]);
});
