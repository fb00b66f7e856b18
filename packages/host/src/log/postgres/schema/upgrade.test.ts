/** Nodes that run while the database is migrated go on with what they call, until they are restarted. */
import { expect, it } from 'vitest';
import { connect, Database } from '../database.ts';
import { migratePostgres } from '../migrate.ts';
import { sharedPostgres } from '../server.kit.ts';
import { migrations } from './migrations.ts';

/** As a node of schema version 4 sends it. */
const OLD_LOOK = `SELECT last, running, seq, cursor, at, type, node, cause, audience, face, body, task_body, own_hash,
  chain_hash, run_id, context_id FROM cairn.look($1::bigint, $2::integer, 500, 1000000)`;

const FUNCTIONS = `SELECT oid::regprocedure::text || ' ' || pg_get_function_result(oid) FROM pg_proc
  WHERE pronamespace = 'cairn'::regnamespace ORDER BY 1`;

async function emptyDatabase(name: string) {
  const server = await sharedPostgres();
  await server.createDatabase(name);
  const pool = connect({ url: server.url(name), connections: 1 });
  return { database: new Database(pool), [Symbol.asyncDispose]: () => pool.end() };
}

it('answers the statements of nodes that run since the version before', async () => {
  await using empty = await emptyDatabase('upgrade');
  const { database } = empty;
  await migratePostgres(database, migrations.slice(0, 4));
  expect(await database.rows(OLD_LOOK, [0, 1])).toHaveLength(1);
  await migratePostgres(database);
  expect(await database.rows(OLD_LOOK, [0, 1])).toHaveLength(1);
});

it('keeps every function with its arguments and its result', async () => {
  await using empty = await emptyDatabase('functions');
  const { database } = empty;
  let before: readonly string[] = [];
  for (let version = 1; version <= migrations.length; version += 1) {
    await migratePostgres(database, migrations.slice(0, version));
    const now = (await database.rows<[string]>(FUNCTIONS)).flat();
    expect(now).toEqual(expect.arrayContaining([...before]));
    before = now;
  }
  expect(before.length).toBeGreaterThan(10);
});

it('leaves the schema as it was if a migration fails, and lets go of it if the program is gone in the middle of one', async () => {
  await using empty = await emptyDatabase('halfway');
  const { database } = empty;
  await migratePostgres(database, migrations.slice(0, 3));
  const broken = [...migrations.slice(0, 4), { name: 'broken', sql: 'CREATE TABLE cairn.half (n int); SELECT 1 / 0' }];
  await expect(migratePostgres(database, broken)).rejects.toThrow('division by zero');
  expect(await database.rows('SELECT max(number) FROM cairn.migrations')).toEqual([[3]]);
  const idle = "CREATE TABLE cairn.idle AS SELECT current_setting('idle_in_transaction_session_timeout') AS after";
  await migratePostgres(database, [...migrations, { name: 'idle', sql: idle }]);
  expect(await database.rows('SELECT after FROM cairn.idle')).toEqual([['1min']]);
});
