/** Opening a store: the schema is checked or migrated, and what is wrong with a database is said without its password. */
import { expect, it } from 'vitest';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase, sharedPostgres } from './server.kit.ts';
import { openPostgresStore } from './store.ts';

const failure = (url: string): Promise<Error> =>
  openPostgresStore({ url, connections: 1, elapsedMs }).then(
    () => new Error('It opened.'),
    (error: Error) => error,
  );

it('migrates an empty database once, however many nodes start at a time', async () => {
  const server = await sharedPostgres();
  await server.createDatabase('empty');
  const url = server.url('empty');
  expect(await failure(url)).toMatchObject({ code: 'store_failed', hint: expect.stringContaining('cairn migrate') });
  const stores = await Promise.all(
    [1, 2, 3].map(() => openPostgresStore({ url, migrates: true, connections: 1, elapsedMs })),
  );
  await Promise.all(stores.map((store) => store.close()));
  const store = await openPostgresStore({ url, elapsedMs });
  expect(await store.changes.lastCursor()).toBe(0);
  await store.close();
});

it('refuses a database of a newer program', async () => {
  const url = await freshDatabase();
  const pool = connect({ url, connections: 1 });
  await new Database(pool).changed("INSERT INTO cairn.migrations VALUES (999, 'of the future')");
  await pool.end();
  expect(await failure(url)).toMatchObject({ code: 'store_newer', details: { version: 999 } });
});

it('refuses a database whose transactions do not see what others commit meanwhile', async () => {
  const url = await freshDatabase();
  const pool = connect({ url, connections: 1 });
  const name = new URL(url).pathname.slice(1);
  await new Database(pool).changed(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
  await pool.end();
  expect(await failure(url)).toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('repeatable read by default'),
    hint: expect.stringContaining("default_transaction_isolation = 'read committed'"),
  });
});

it('says what is wrong with the way to a database, and never the password', async () => {
  const server = await sharedPostgres();
  const url = server.url('postgres');
  const wrong = await failure(url.replace(/:[^:@]*@/, ':another-secret@'));
  expect(wrong).toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('refused the user or the password'),
  });
  const missing = await failure(server.url('nowhere'));
  expect(missing).toMatchObject({ code: 'store_failed', message: expect.stringContaining('There is no database') });
  const away = await failure('postgres://cairn:another-secret@127.0.0.1:1/cairn');
  expect(away).toMatchObject({ code: 'store_failed', message: expect.stringContaining('cannot be reached') });
  for (const { message } of [wrong, missing, away]) expect(message).not.toContain('secret');
});

it('says which right is missing', async () => {
  const server = await sharedPostgres();
  const pool = connect({ url: server.url('postgres'), connections: 1 });
  await new Database(pool).changed("CREATE ROLE guest LOGIN PASSWORD 'guest'");
  await pool.end();
  const url = server.url('postgres').replace(/\/\/[^@]*@/, '//guest:guest@');
  const refused = openPostgresStore({ url, migrates: true, connections: 1, elapsedMs });
  await expect(refused).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('permission denied'),
  });
});
