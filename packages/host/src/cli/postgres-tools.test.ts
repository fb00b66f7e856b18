/** The commands without a host on a PostgreSQL database: they say of it what they say of a data folder. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { moveToPostgres } from '../log/copy/move.ts';
import { everythingFolder, viewOf } from '../log/copy/store-view.kit.ts';
import { runA } from '../log/ports/samples.kit.ts';
import { connect, Database } from '../log/postgres/database.ts';
import { elapsedMs, freshDatabase } from '../log/postgres/server.kit.ts';
import { openPostgresStore } from '../log/postgres/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { child } from '../log/sqlite/verify/damaged-folder.kit.ts';
import { typed } from './recording-terminal.kit.ts';

/** Each test fills or copies databases, on machines that do much else. */
const slow = { timeout: 120_000 };

const masterKey = 'a'.repeat(43);

interface Place {
  readonly url: string;
  /** What the ports show of it. */
  readonly view: unknown;
}

let filled: Promise<Place> | null = null;

/** A database with something in every table, the same for all tests. */
const database = (): Promise<Place> => {
  filled ??= fill();
  return filled;
};

async function fill(): Promise<Place> {
  const folder = await everythingFolder();
  const url = await freshDatabase();
  await onDatabase(url, (target) => moveToPostgres({ folder, database: target }));
  return { url, view: await seen(await openSqliteStore({ folder })) };
}

async function onDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const pool = connect({ url, connections: 1 });
  try {
    return await work(new Database(pool));
  } finally {
    await pool.end();
  }
}

async function seen(store: Parameters<typeof viewOf>[0] & { close(): Promise<void> }) {
  try {
    return await viewOf(store);
  } finally {
    await store.close();
  }
}

/** Command lines in a folder of their own. */
async function place() {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-tools-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const { url, view } = await database();
  const cairn = (args: readonly string[], store = url) =>
    typed(args, { cwd, env: { CAIRN_STORE: store, CAIRN_MASTER_KEY: masterKey } });
  return { cwd, url, view, cairn };
}

test('verify finds nothing wrong with a database, with a run in it, and with its checkpoint', slow, async () => {
  const { cwd, url, cairn } = await place();
  const all = await typed(['verify', '--store', url], { cwd });
  expect(all).toMatchObject({ code: 0, out: expect.stringMatching(/^✓ 127\.0\.0\.1:\d+\/test_\d+: \d+ runs/) });
  expect(all.out).not.toContain('!');
  expect(await cairn(['verify', runA])).toMatchObject({ code: 0, out: expect.stringContaining('10 events') });
  expect(await cairn(['checkpoint', '--all', '-o', 'all.jsonl'])).toMatchObject({ code: 0 });
  expect(await cairn(['verify', '--against', 'all.jsonl'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('agrees with the checkpoint'),
  });
  expect(await cairn(['verify', 'run_x'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('no run with that id'),
  });
});

test.each([
  ['an event', "UPDATE cairn.events SET payload = '{}' WHERE run = 2 AND seq = 1", 'does not match its hash'],
  ['a cut tail', 'DELETE FROM cairn.events WHERE run = 2 AND seq = 1', 'is not its last event'],
  ['the run list', "UPDATE cairn.runs SET status = 'failed' WHERE key = 2", 'status'],
  ['a blob', "UPDATE cairn.blob_bodies SET body = 'x'", 'are missing or changed'],
  ['a counter', "SELECT setval('cairn.cursors', 1)", 'cursors that are taken'],
  ['a context', 'UPDATE cairn.contexts SET head = 0', 'ends before its last event'],
])('verify finds a change of %s', slow, async (_, change, message) => {
  const { url, cairn } = await place();
  const copy = await copyOf(url);
  await onDatabase(copy, (target) => target.changed(change));
  const ended = await cairn(['verify', '--json'], copy);
  expect(ended.code).toBe(1);
  expect(JSON.stringify(JSON.parse(ended.out).problems)).toContain(message);
});

/** A database is copied by its own server. */
async function copyOf(url: string): Promise<string> {
  const name = `copy_${Math.round(performance.now() * 1_000)}`;
  const original = new URL(url).pathname.slice(1);
  const postgres = new URL(url);
  postgres.pathname = '/postgres';
  await onDatabase(postgres.href, (target) => target.changed(`CREATE DATABASE ${name} TEMPLATE ${original}`));
  postgres.pathname = `/${name}`;
  return postgres.href;
}

test('a bundle from a database is the one from a folder, and goes into another database', slow, async () => {
  const { cwd, cairn } = await place();
  const folder = await everythingFolder();
  await cairn(['export', runA, '-o', 'there.jsonl']);
  expect(await typed(['export', runA, '-o', 'here.jsonl', '--data', folder], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, 'there.jsonl'), 'utf8')).toBe(readFileSync(join(cwd, 'here.jsonl'), 'utf8'));
  expect(await cairn(['export', child, '-o', 'child.jsonl'])).toMatchObject({ code: 0 });
  const other = await freshDatabase();
  const imported = await cairn(['import', 'child.jsonl', '--tenant', 'u', '--json'], other);
  expect(JSON.parse(imported.out)).toMatchObject({ runs: 1, tenant: 'u', imported: true });
  expect((await cairn(['import', 'child.jsonl'], other)).out).toContain('is already in');
  expect(await cairn(['verify', child], other)).toMatchObject({ code: 0 });
});

test('a backup of a database becomes another database and a data folder, which show the same', slow, async () => {
  const { cwd, url, view, cairn } = await place();
  expect(await cairn(['backup', 'monday.cairn'])).toMatchObject({ code: 0, err: expect.stringContaining('masterKey') });
  expect(await cairn(['verify', 'monday.cairn'])).toMatchObject({ code: 0 });
  const other = await freshDatabase();
  expect(await cairn(['restore', 'monday.cairn', '--store', other])).toMatchObject({ code: 0 });
  expect(await seen(await openPostgresStore({ url: other, connections: 1, elapsedMs }))).toEqual(view);
  expect(await cairn(['restore', 'monday.cairn', '--data', 'restored'])).toMatchObject({ code: 0 });
  expect(await seen(await openSqliteStore({ folder: join(cwd, 'restored') }))).toEqual(view);
  expect(await cairn(['restore', 'monday.cairn', '--store', url])).toMatchObject({
    code: 4,
    err: expect.stringContaining('holds data of a host already'),
  });
  expect(readdirSync(cwd).sort()).toEqual(['monday.cairn', 'restored']);
});

test('doctor rebuilds the run list, the inbox and the task view from the events', slow, async () => {
  const { url, cairn } = await place();
  const copy = await copyOf(url);
  const change = "UPDATE cairn.runs SET status = 'failed', summary = '{}', tags = '[]' WHERE key = 1";
  await onDatabase(copy, (target) => target.changed(change));
  await onDatabase(copy, (target) => target.changed("UPDATE cairn.interrupts SET open = 0, title = 'x'"));
  await onDatabase(copy, (target) => target.changed("UPDATE cairn.events SET task = '{}' WHERE type = 'run.started'"));
  const rebuilt = (await cairn(['doctor', '--rebuild'], copy)).out;
  expect(rebuilt).toMatch(/index +repaired; runs: \d+, of which 1 were wrong/);
  expect(rebuilt).toMatch(/task view +repaired; events: \d+, in \d+ runs?/);
  expect(await cairn(['verify'], copy)).toMatchObject({ code: 0 });
});

test('doctor says what it finds, and which tool of the database is for space', slow, async () => {
  const { cwd, url, cairn } = await place();
  const found = await cairn(['doctor']);
  expect(found).toMatchObject({ code: 0 });
  expect(found.out).toMatch(/database +127\.0\.0\.1.* PostgreSQL 1\d/);
  expect(found.out).toMatch(/nodes +no node runs/);
  expect((await cairn(['doctor', '--rebuild'])).out).toMatch(/index +correct[\s\S]*task view +correct/);
  expect(await cairn(['doctor', '--compact'])).toMatchObject({ code: 2, err: expect.stringContaining('VACUUM FULL') });
  writeFileSync(join(cwd, 'cairn.json'), JSON.stringify({ store: url, keys: [] }));
  expect((await typed(['doctor'], { cwd })).out).toMatch(/schema +of this version/);
  const away = await cairn(['doctor'], 'postgres://cairn:secret@127.0.0.1:1/cairn');
  expect([away.code, away.out]).toEqual([1, expect.stringContaining('cannot be reached')]);
  expect(away.out).not.toContain('secret');
});

test.each([
  ['two stores', ['verify', '--store', 'postgres://x/y', '--data', '.'], 'two stores'],
  ['a restore to nowhere', ['restore', 'a.cairn'], 'either --data or --store'],
  ['a key of a database', ['backup', 'b.cairn', '--include-key'], 'has no host.key'],
])('refuses %s', slow, async (_, args, message) => {
  const { cairn } = await place();
  expect(await cairn(args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});
