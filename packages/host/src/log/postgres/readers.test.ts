/** What a node asks for some clients waits for connections; what it asks for others does not wait behind it. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import { connect, Database, type Queries } from './database.ts';
import { KnownTenants } from './known-tenants.ts';
import { Readers } from './readers.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore, type PostgresStore } from './store.ts';

const contextB = 'ctx_two' as ContextId;

/** While this goes on, no read of a table is answered that nothing else here needs: pages read tombstones. */
async function whileReadsWait<Result>(
  work: (store: PostgresStore) => Promise<Result>,
  table = 'cairn.tombstones',
): Promise<Result> {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, elapsedMs });
  onTestFinished(() => store.close());
  await store.log.append(creation(runA));
  await store.log.append(creation(runB, { create: { tenant: 'other', contextId: contextB, originRunId: runB } }));
  const pool = connect({ url, connections: 1 });
  onTestFinished(() => pool.end(0));
  return new Database(pool).transaction(async (queries) => {
    await queries.changed(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return work(store);
  });
}

const page = ({ log }: PostgresStore, runId: RunId) => log.read({ runId, after: -1, limit: 10 });

it('answers a start and commits while a hundred pages are read, and reads each of them', async () => {
  const pages = await whileReadsWait(async (store) => {
    const reads = Array.from({ length: 100 }, () => page(store, runA));
    expect(await store.definitions.workflow('t', 'none')).toBeNull();
    await store.log.append({ runId: runB, rows: [row('x')] });
    return reads;
  });
  expect((await Promise.all(pages)).map(({ length }) => length)).toEqual(Array.from({ length: 100 }, () => 1));
});

it('answers a start and commits while a hundred blobs are read', async () => {
  const blobs = await whileReadsWait(async (store) => {
    const reads = Array.from({ length: 100 }, (_, n) => store.blobs.get('t', String(n)));
    expect(await store.definitions.workflow('t', 'none')).toBeNull();
    await store.log.append({ runId: runB, rows: [row('x')] });
    return reads;
  }, 'cairn.blob_bodies');
  expect(await Promise.all(blobs)).toEqual(Array.from({ length: 100 }, () => null));
});

it('answers about a context that it wrote to while a hundred pages of runs are read whose tenants it does not know', async () => {
  const pages = await whileReadsWait(async (store) => {
    const runs = Array.from({ length: 100 }, (_, n) => `run_of_many_${n}` as RunId);
    const reads = runs.map((runId) => page(store, runId));
    expect((await store.contexts.runs({ contextId: contextB, limit: 1 })).runs).toMatchObject([{ runId: runB }]);
    return reads;
  });
  expect((await Promise.all(pages)).flat()).toEqual([]);
});

it('lets tenants take turns, then their runs and contexts, and those of unknown tenants together', async () => {
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const queries: Queries = {
    rows: async (text) => {
      begun.push(text);
      if (text === 'first') await first.promise;
      return [];
    },
    changed: async () => 0,
  };
  const tenants = new KnownTenants();
  const readers = new Readers({
    each: 1,
    together: 1,
    database: { of: () => queries },
    tenants,
    nextTurn: setImmediate,
  });
  const id = (name: string) => name as RunId | ContextId;
  for (const name of ['a1', 'a2']) tenants.note(id(name), 'a');
  tenants.note(id('b1'), 'b');
  const asked = ['first', 'a1', 'a1', 'a1', 'a2', 'x1', 'x1', 'x2', 'b1'].map((name) =>
    readers.of(id(name)).rows(name),
  );
  first.resolve();
  await Promise.all(asked);
  expect(begun).toEqual(['first', 'a1', 'x1', 'b1', 'a2', 'x2', 'a1', 'x1', 'a1']);
});

it('leaves places to others while pages of a tenant take long', async () => {
  const begun: string[] = [];
  const slow = Promise.withResolvers<void>();
  const queries: Queries = {
    rows: async (text) => {
      begun.push(text);
      if (text.startsWith('slow')) await slow.promise;
      return [];
    },
    changed: async () => 0,
  };
  const tenants = new KnownTenants();
  const readers = new Readers({
    each: 2,
    together: 3,
    database: { of: () => queries },
    tenants,
    nextTurn: setImmediate,
  });
  tenants.note(runA, 'a');
  tenants.note(runB, 'b');
  const pages = ['slow1', 'slow2', 'slow3'].map((name) => readers.of(runA).rows(name));
  await readers.of(runB).rows('quick1');
  await readers.of(runB).rows('quick2');
  expect(begun).toEqual(['slow1', 'slow2', 'quick1', 'quick2']);
  slow.resolve();
  await Promise.all(pages);
  expect(begun.at(-1)).toBe('slow3');
});

it('gives large pages in turns of the event loop, tenants in turn, and small ones at once', async () => {
  const turns: (() => void)[] = [];
  const text = 'x'.repeat(200_000);
  const queries: Queries = {
    rows: async (name) => [[name === 'small' ? '' : text]] as never,
    changed: async () => 0,
  };
  const tenants = new KnownTenants();
  const nextTurn = (go: () => void) => void turns.push(go);
  const readers = new Readers({ each: 5, together: 10, database: { of: () => queries }, tenants, nextTurn });
  tenants.note(runA, 'a');
  tenants.note(runB, 'b');
  const given: string[] = [];
  const read = async (runId: RunId, name: string) => {
    await readers.of(runId).rows(name);
    given.push(name);
  };
  const pages = [...['a1', 'a2', 'a3', 'a4'].map((name) => read(runA, name)), read(runB, 'b1'), read(runB, 'b2')];
  await read(runA, 'small');
  expect(given).toEqual(['a1', 'b1', 'small']);
  while (given.length < 7) {
    turns.shift()?.();
    const count = given.length;
    await new Promise(setImmediate);
    expect(given.length - count).toBeLessThanOrEqual(1);
  }
  await Promise.all(pages);
  expect(given.slice(3)).toEqual(['a2', 'b2', 'a3', 'a4']);
});
