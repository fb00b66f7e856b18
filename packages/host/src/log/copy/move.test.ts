/** A moved store shows through its ports what the data folder showed, however often the move was interrupted. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { creation, runB } from '../ports/samples.kit.ts';
import { connect, Database } from '../postgres/database.ts';
import { elapsedMs, freshDatabase } from '../postgres/server.kit.ts';
import { openPostgresStore } from '../postgres/store.ts';
import { openSqliteStore } from '../sqlite/folder/open.ts';
import { type MoveProgress, moveToPostgres } from './move.ts';
import { copiedTables, derivedTables } from './record-tables.ts';
import { everythingFolder, LONG_ROWS, viewOf } from './store-view.kit.ts';

/** Each test fills databases, on machines that do much else. */
const slow = { timeout: 120_000 };

async function target() {
  const url = await freshDatabase();
  const pool = connect({ url, connections: 1 });
  onTestFinished(() => pool.end());
  return { url, database: new Database(pool) };
}

async function folderView(folder: string) {
  const store = await openSqliteStore({ folder });
  onTestFinished(() => store.close());
  return viewOf(store);
}

async function movedView(url: string) {
  const store = await openPostgresStore({ url, connections: 2, elapsedMs });
  onTestFinished(() => store.close());
  return { store, view: await viewOf(store) };
}

test(
  'a move that stops after every page shows everything in the end, and new runs go on from there',
  slow,
  async () => {
    const folder = await everythingFolder();
    const { url, database } = await target();
    const told: MoveProgress[] = [];
    for (;;) {
      const stop = new AbortController();
      const onProgress = (progress: MoveProgress) => {
        told.push(progress);
        stop.abort();
      };
      const { outcome } = await moveToPostgres({ folder, database, onProgress, signal: stop.signal });
      if (outcome === 'moved') break;
      expect(outcome).toBe('stopped');
      if (told.length > 1) continue;
      await expect(openPostgresStore({ url, elapsedMs })).rejects.toMatchObject({
        code: 'store_failed',
        hint: expect.stringContaining('cairn move'),
      });
    }
    expect(told.filter(({ table }) => table === 'events').length).toBeGreaterThan(LONG_ROWS / 500);
    expect(told.some(({ step }) => step === 'verify')).toBe(true);
    expect(await moveToPostgres({ folder, database })).toMatchObject({ outcome: 'before' });
    const { store, view } = await movedView(url);
    expect(view).toEqual(await folderView(folder));
    expect([await store.facts.hostId(), await store.facts.keyId()]).toEqual(['host/1', 'key-id']);
    const last = await store.changes.lastCursor();
    const { cursor } = await store.log.append(creation(runB));
    expect(cursor).toBe(last + 1);
  },
);

test('refuses a folder in use, one that went on since, and a database with other data', slow, async () => {
  const folder = await everythingFolder();
  const { database } = await target();
  const host = await openSqliteStore({ folder });
  await expect(moveToPostgres({ folder, database })).rejects.toMatchObject({ code: 'store_locked' });
  await host.close();
  const stop = new AbortController();
  await moveToPostgres({ folder, database, signal: stop.signal, onProgress: () => stop.abort() });
  await (await openSqliteStore({ folder })).close();
  await expect(moveToPostgres({ folder, database })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('a host ran there since'),
  });
  const other = await target();
  const node = await openPostgresStore({ url: other.url, connections: 1, elapsedMs });
  await node.facts.saveHostId('another');
  await node.close();
  const refused = moveToPostgres({ folder, database: other.database });
  await expect(refused).rejects.toMatchObject({ code: 'conflict', details: { table: 'facts' } });
  expect(await other.database.rows('SELECT name FROM cairn.facts ORDER BY name')).toEqual([['channel'], ['host']]);
});

test('finds an event that is not as it was written', slow, async () => {
  const folder = await everythingFolder();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec("UPDATE events SET payload = '{}' WHERE run = 2 AND seq = 1");
  db.close();
  const { database } = await target();
  await expect(moveToPostgres({ folder, database })).rejects.toMatchObject({
    code: 'store_corrupt',
    message: expect.stringContaining('event 1 (run.completed) does not match its hash'),
  });
});

test('every table of both stores is copied, or known to follow from the others', slow, async () => {
  const folder = await everythingFolder();
  const { database } = await target();
  const copied = copiedTables.map(({ name }) => name);
  const shared = await database.rows<[string]>("SELECT tablename FROM pg_tables WHERE schemaname = 'cairn'");
  expect(shared.map(([name]) => name).sort()).toEqual([...copied, ...derivedTables.postgres].sort());
  const db = new DatabaseSync(join(folder, 'cairn.db'), { readOnly: true });
  const local = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'memory_words_%' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => String(name));
  const inSqlite = copiedTables.map(({ name, inSqlite: side }) => side?.name ?? name);
  expect(local.sort()).toEqual([...inSqlite, ...derivedTables.sqlite].sort());
  // A folder with a row in each: the comparison above would miss a table that is empty.
  for (const [place, { name }] of copiedTables.entries())
    expect([name, db.prepare(`SELECT 1 FROM ${inSqlite[place]} LIMIT 1`).get()]).toEqual([name, expect.anything()]);
  db.close();
});
