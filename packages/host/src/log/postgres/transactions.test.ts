/** Transactions whose connection is lost: they fail, the process goes on, and so does the next transaction. */
import { expect, it, onTestFinished } from 'vitest';
import { connect, Database, type Queries } from './database.ts';
import { sharedPostgres } from './server.kit.ts';

async function opened(): Promise<Database> {
  const server = await sharedPostgres();
  const pool = connect({ url: server.url('postgres'), connections: 1 });
  onTestFinished(() => pool.end());
  return new Database(pool);
}

/** Ends the connection of the transaction, as a restart of the server does, and waits until the server let it go. */
async function endConnection(database: Database, queries: Queries): Promise<void> {
  const [[pid] = [0]] = await queries.rows<[pid: number]>('SELECT pg_backend_pid()');
  await database.rows('SELECT pg_terminate_backend($1::int)', [pid]);
  for (;;) {
    const [[count] = [0]] = await database.rows<[number]>(
      'SELECT count(*)::int FROM pg_stat_activity WHERE pid = $1::int',
      [pid],
    );
    if (count === 0) return;
  }
}

it('a transaction that lost its connection fails at its next statement, and the next one works', async () => {
  const database = await opened();
  const failing = database.transaction(async (queries) => {
    await endConnection(database, queries);
    await queries.rows('SELECT 1');
  });
  await expect(failing).rejects.toMatchObject({ code: 'store_failed', retryable: true });
  expect(await database.transaction((queries) => queries.rows('SELECT 2'))).toEqual([[2]]);
});

it('work that fails after its connection was lost fails with its own error', async () => {
  const database = await opened();
  const failing = database.transaction(async (queries) => {
    await endConnection(database, queries);
    // The driver learns of the loss before the rollback.
    for (let turn = 0; turn < 50; turn += 1) await database.rows('SELECT 1');
    throw new Error('of the work');
  });
  await expect(failing).rejects.toMatchObject({ message: expect.stringContaining('of the work') });
  expect(await database.transaction((queries) => queries.rows('SELECT 3'))).toEqual([[3]]);
});

it('what a transaction that throws did is rolled back, and what another did is kept', async () => {
  const database = await opened();
  await database.changed('CREATE TABLE kept (n int)');
  const add = (queries: Queries, n: number) => queries.changed('INSERT INTO kept VALUES ($1::int)', [n]);
  const failing = database.transaction(async (queries) => {
    await add(queries, 1);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await Promise.all([2, 3, 4].map((n) => database.transaction((queries) => add(queries, n))));
  expect(await database.rows('SELECT n FROM kept ORDER BY n')).toEqual([[2], [3], [4]]);
  await database.changed('DROP TABLE kept');
});
