/** How far the log is settled, while transactions are under way that write to it, and others. */
import type { RunId } from '@cairn/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { creation, row } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore, type PostgresStore } from './store.ts';

const runId = 'run_a' as RunId;
const NUMBER = 'SELECT pg_current_xact_id()::text';
const CURSOR = "SELECT nextval('cairn.cursors')";

/** A store with two rows, a way to open others on its database, and a connection of somebody else. */
async function opened() {
  const url = await freshDatabase();
  const pool = connect({ url, connections: 1 });
  const stores: PostgresStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    await pool.end();
  });
  const node = async () => {
    const store = await openPostgresStore({ url, connections: 2, elapsedMs });
    stores.push(store);
    return store;
  };
  const first = await node();
  await first.log.append(creation(runId));
  await first.log.append({ runId, rows: [row('before')] });
  return { first, node, other: new Database(pool) };
}

/** What a store tells of a run, up to a type. */
function toldBy({ log }: PostgresStore, until: string): Promise<readonly string[]> {
  const told: string[] = [];
  return new Promise((resolve) => {
    log.follow(({ rows }) => {
      told.push(...rows.map(({ type }) => type));
      if (told.includes(until)) resolve(told);
    });
  });
}

it('is not held up by a long transaction that writes something else', async () => {
  const { first, node, other } = await opened();
  await other.transaction(async (queries) => {
    await queries.rows(NUMBER);
    const second = await node();
    const told = toldBy(second, 'during');
    await first.log.append({ runId, rows: [row('during')] });
    expect(await told).toEqual(['during']);
    for (const { changes } of [first, second]) {
      expect(await changes.end()).toBe('3');
      expect((await changes.read({ after: '0', limit: 10, filter: null })).rows).toHaveLength(3);
    }
  });
}, 60_000);

it('ends before a cursor that a transaction under way has drawn', async () => {
  const { first, other } = await opened();
  expect(await first.changes.end()).toBe('2');
  await other.transaction(async (queries) => {
    await queries.rows(NUMBER);
    await queries.rows(CURSOR);
    await first.log.append({ runId, rows: [row('after it')] });
    expect(await first.changes.end()).toBe('2');
  });
  expect(await first.changes.end()).toBe('4');
}, 60_000);

it('lets a node that starts meanwhile wait, which so tells nobody of what was written before', async () => {
  const { first, node, other } = await opened();
  const told = Promise.withResolvers<readonly string[]>();
  await other.transaction(async (queries) => {
    await queries.rows(NUMBER);
    await queries.rows(CURSOR);
    node().then((store) => toldBy(store, 'later').then(told.resolve), told.reject);
    // Each takes about a second: longer than a reader waits.
    for (let i = 0; i < 2; i += 1) await first.changes.end();
  });
  await first.log.append({ runId, rows: [row('later')] });
  for (let isTold = false; !isTold; ) {
    await first.log.append({ runId, rows: [row('later')] });
    isTold = await Promise.race([told.promise.then(() => true), first.changes.end().then(() => false)]);
  }
  expect(new Set(await told.promise)).toEqual(new Set(['later']));
}, 60_000);
