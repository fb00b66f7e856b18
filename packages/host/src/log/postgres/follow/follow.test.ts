/** Followers of a node hear of the commits of every node, each once, and the rows of a context in order. */

import { setTimeout as delay } from 'node:timers/promises';
import type { ContextId, RunId } from '@cairn/protocol';
import { afterEach, expect, it } from 'vitest';
import type { Commit, Interest } from '../../ports/event-log.ts';
import { creation, row } from '../../ports/samples.kit.ts';
import { connect, Database } from '../database.ts';
import { storeFacts } from '../records/store-facts.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore, type PostgresStore } from '../store.ts';
import { type Heard, hear } from './said.ts';

const opened: PostgresStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function nodes(count: number, url: string): Promise<readonly PostgresStore[]> {
  for (let i = 0; i < count; i += 1) opened.push(await openPostgresStore({ url, connections: 3, elapsedMs }));
  return opened;
}

/** What a follower heard, and a promise for the moment when it has heard so many rows. */
function heardBy(store: PostgresStore, interest?: Interest) {
  const places: string[] = [];
  const cursors = new Map<ContextId, number[]>();
  let wanted = Number.POSITIVE_INFINITY;
  let done: () => void = () => {};
  store.log.follow(({ runId, contextId, rows }: Commit) => {
    for (const { seq, cursor } of rows) {
      places.push(`${runId}:${seq}`);
      cursors.set(contextId, [...(cursors.get(contextId) ?? []), cursor]);
    }
    if (places.length >= wanted) done();
  }, interest);
  const has = (count: number): Promise<void> =>
    new Promise((resolve) => {
      [wanted, done] = [count, resolve];
      if (places.length >= wanted) resolve();
    });
  return { places, cursors, has };
}

it.each([
  ['nobody waits for', undefined],
  ['somebody waits for', () => true] as const,
  ['somebody waits for half of', ({ contextId }: { contextId: ContextId }) => contextId === 'ctx_1'],
])('tells every node of every row once, in order, of contexts that all write to and %s', async (_, waits) => {
  const stores = await nodes(3, await freshDatabase());
  const heard = stores.map((store) => heardBy(store));
  if (waits !== undefined) for (const { log } of stores) log.follow(() => undefined, { waits });
  const runs = Array.from({ length: 6 }, (_, i) => `run_${i}` as RunId);
  const contextOf = (i: number): ContextId => `ctx_${i % 2}` as ContextId;
  await Promise.all(
    runs.map((runId, i) =>
      stores[i % 3]?.log.append(
        creation(runId, { create: { tenant: 't', contextId: contextOf(i), originRunId: runId } }),
      ),
    ),
  );
  // Facts of all nodes to all runs: each node's cached heads are wrong most of the time.
  const appends = runs.flatMap((runId) =>
    Array.from({ length: 30 }, (_, i) => stores[i % 3]?.log.append({ runId, rows: [row(`a${i}`), row('b')] })),
  );
  await Promise.all(appends);
  const all = runs.flatMap((runId) => Array.from({ length: 61 }, (_, seq) => `${runId}:${seq}`)).sort();
  for (const { places, cursors, has } of heard) {
    await has(all.length);
    expect(places.toSorted()).toEqual(all);
    for (const found of cursors.values()) expect(found).toEqual(found.toSorted((a, b) => a - b));
  }
});

it('tells what somebody waits for while a transaction of another program is under way', async () => {
  const url = await freshDatabase();
  const [a, b] = await nodes(2, url);
  if (a === undefined || b === undefined) throw new Error('There are two nodes.');
  const heard = heardBy(b, { waits: () => true });
  const pool = connect({ url, connections: 1 });
  try {
    await new Database(pool).transaction(async (queries) => {
      await queries.rows('SELECT pg_current_xact_id()');
      await a.log.append(creation('run_a' as RunId));
      await heard.has(1);
    });
  } finally {
    await pool.end();
  }
  expect(heard.places).toEqual(['run_a:0']);
});

it('tells whole commits of what somebody waits for, and of all others the rows whose types somebody needs', async () => {
  const [a, b] = await nodes(2, await freshDatabase());
  if (a === undefined || b === undefined) throw new Error('There are two nodes.');
  const [waited, other] = ['run_a' as RunId, 'run_b' as RunId];
  const patient = heardBy(b, { waits: ({ runId }) => runId === waited });
  const choosy = heardBy(b, { types: () => ['x'] });
  for (const runId of [waited, other]) {
    const { create, ...first } = creation(runId);
    const contextId = `ctx_${runId}` as ContextId;
    await a.log.append({ ...first, ...(create && { create: { ...create, contextId } }) });
  }
  for (let i = 0; i < 20; i += 1)
    for (const runId of [other, waited]) await a.log.append({ runId, rows: [row('x'), row('y'), row('x')] });
  const seqs = Array.from({ length: 61 }, (_, seq) => seq);
  await Promise.all([patient.has(61), choosy.has(61 + 40)]);
  expect(patient.places).toEqual(seqs.map((seq) => `${waited}:${seq}`));
  const ofOther = choosy.places.filter((place) => place.startsWith(other));
  expect(ofOther).toEqual(seqs.filter((seq) => seq > 0 && seq % 3 !== 2).map((seq) => `${other}:${seq}`));
  expect(choosy.places.filter((place) => place.startsWith(waited))).toEqual(seqs.map((seq) => `${waited}:${seq}`));
});

it('tells of many contexts that somebody waits for, of any length', async () => {
  const [a, b] = await nodes(2, await freshDatabase());
  if (a === undefined || b === undefined) throw new Error('There are two nodes.');
  const heard = heardBy(b, { waits: () => true });
  const runs = Array.from({ length: 20 }, (_, i) => `run_${i}` as RunId);
  const long = Array.from({ length: 70 }, () => row('x'));
  await Promise.all(
    runs.map(async (runId) => {
      await a.log.append(
        creation(runId, { create: { tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runId } }),
      );
      await a.log.append({ runId, rows: long });
    }),
  );
  await heard.has(20 * 71);
  expect(heard.places.toSorted()).toEqual(
    runs.flatMap((runId) => Array.from({ length: 71 }, (_, seq) => `${runId}:${seq}`)).toSorted(),
  );
});

it('brings the rows of a commit in its notification when it is quiet, with the cursors that they got', async () => {
  const url = await freshDatabase();
  const [a] = await nodes(1, url);
  if (a === undefined) throw new Error('There is a node.');
  const runId = 'run_a' as RunId;
  await a.log.append(creation(runId));
  const pool = connect({ url, connections: 1 });
  try {
    const listener = new Database(pool);
    const told: Heard[] = [];
    const has = Promise.withResolvers<void>();
    const heard = (text: string): void => {
      told.push(hear(text));
      if (told.at(-1)?.news) has.resolve();
    };
    const joined = Promise.withResolvers<void>();
    await listener.listen(await storeFacts(listener).channel(), heard, joined.resolve);
    await joined.promise;
    const zero = {
      nodeId: 'é\u0000',
      payload: '{"n":"\u{1f600}"}',
      task: '{}',
      cause: 0,
    } as const;
    // The first ones may come within the time in which notifications are gathered.
    for (let n = 0; told.every(({ news }) => news === null); n += 1) {
      await a.log.append({ runId, rows: [row(`x${n}`, zero), row(`y${n}`)] });
      await Promise.race([has.promise, delay(2 * n)]);
    }
    const news = told.find((one) => one.news)?.news;
    const rows = await a.log.read({ runId, after: (news?.rows[0]?.seq ?? 0) - 2, limit: 3 });
    expect(news).toEqual({ before: rows[0]?.cursor, rows: rows.slice(1) });
  } finally {
    await pool.end();
  }
});

it('hears of what was written while no notification came through', async () => {
  const [a, b] = await nodes(2, await freshDatabase());
  if (a === undefined || b === undefined) throw new Error('There are two nodes.');
  const heard = heardBy(b);
  const runId = 'run_a' as RunId;
  await a.log.append(creation(runId));
  await heard.has(1);
  // Imported rows draw cursors too, and are told to nobody.
  await a.log.append({ runId, rows: [row('a')] });
  await heard.has(2);
  expect(heard.places).toEqual(['run_a:0', 'run_a:1']);
});
