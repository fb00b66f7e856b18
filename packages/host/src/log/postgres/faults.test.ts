/** A database that refuses for a while: the error says why, nothing is written twice, and the store goes on by itself. */
import type { RunId } from '@cairn/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { creation, row } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase, sharedPostgres } from './server.kit.ts';
import { openPostgresStore, type PostgresStore } from './store.ts';

const runId = 'run_a' as RunId;

/** A node with a user of its own, to whom limits apply, and its database from outside. */
async function opened() {
  const url = new URL(await freshDatabase());
  const name = url.pathname.slice(1);
  const outside = connect({ url: (await sharedPostgres()).url('postgres'), connections: 1 });
  const inside = connect({ url: url.href, connections: 1 });
  const [admin, owner] = [new Database(outside), new Database(inside)];
  const user = `user_of_${name}`;
  await admin.changed(`CREATE ROLE ${user} LOGIN PASSWORD 'plain' IN ROLE ${url.username}`);
  const plain = Object.assign(new URL(url), { username: user, password: 'plain' });
  const store = await openPostgresStore({ url: plain.href, connections: 2, elapsedMs, onFault: () => undefined });
  onTestFinished(async () => {
    await store.close();
    await Promise.all([outside.end(), inside.end()]);
  });
  await store.log.append(creation(runId));
  const types = async () => (await store.log.read({ runId, after: -1, limit: 100 })).map(({ type }) => type);
  /** Ends all connections of the node. */
  const cut = () =>
    admin.rows('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1::text', [user]);
  return { store, admin, owner, name, user, types, cut };
}

/** Connections that were cut fail first, and say so. */
async function refusal({ definitions }: PostgresStore): Promise<unknown> {
  for (;;) {
    const error = await definitions.put('hash', 'body').catch((refused: unknown) => refused);
    if (!(error instanceof Error && error.message.includes('cannot be reached'))) return error;
  }
}

it('goes on with a database that takes no writes for a while, as after a failover', async () => {
  const { store, admin, name, types, cut } = await opened();
  await admin.changed(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await cut();
  const appended = store.log.append({ runId, rows: [row('waited')] });
  expect(await refusal(store)).toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: expect.stringContaining('takes no writes'),
  });
  // Sessions that are open stay read-only.
  await admin.changed(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  expect(await appended).toMatchObject({ seq: 1 });
  await store.definitions.put('hash', 'body');
  expect(await types()).toEqual(['run.started', 'waited']);
}, 60_000);

it('goes on with a database that had no connection left for a while', async () => {
  const { store, admin, user, types, cut } = await opened();
  await admin.changed(`ALTER ROLE ${user} CONNECTION LIMIT 0`);
  await cut();
  const appended = store.log.append({ runId, rows: [row('waited')] });
  expect(await refusal(store)).toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: expect.stringContaining('no connection left'),
  });
  await admin.changed(`ALTER ROLE ${user} CONNECTION LIMIT -1`);
  expect(await appended).toMatchObject({ seq: 1 });
  await store.definitions.put('hash', 'body');
  expect(await types()).toEqual(['run.started', 'waited']);
}, 60_000);

it.each([
  ['53100', 'store_full', 'no space left'],
  ['53200', 'store_failed', 'failed: planted'],
  ['57014', 'store_failed', 'failed: planted'],
] as const)('refuses an append that the database ends with %s, says why, and goes on', async (state, code, said) => {
  const { store, owner, types } = await opened();
  await owner.changed(`CREATE FUNCTION cairn.fails() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '${state}'; END $$`);
  await owner.changed('CREATE TRIGGER fails BEFORE INSERT ON cairn.events EXECUTE FUNCTION cairn.fails()');
  const refused = store.log.append({ runId, rows: [row('refused')] });
  await expect(refused).rejects.toMatchObject({ code, retryable: true, message: expect.stringContaining(said) });
  await owner.changed('DROP TRIGGER fails ON cairn.events');
  expect(await store.log.append({ runId, rows: [row('after')] })).toMatchObject({ seq: 1 });
  expect(await types()).toEqual(['run.started', 'after']);
});
