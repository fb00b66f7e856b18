/** Whatever is changed in a database, verification finds it, and names the event that it is in. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { isCairnError } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { row, runA } from '../../ports/samples.kit.ts';
import { openSqliteStore } from '../folder/open.ts';
import { defineMarks, TOMBSTONE_COLUMNS } from '../marks.ts';
import { fullFolder, problemsOf, sampleFolder } from './damaged-folder.kit.ts';

/** Tables that hold what runs did, or what follows from it. Any other table is listed with the reason. */
const tables = [
  'runs',
  'events',
  'large_values',
  'interrupts',
  'run_tags',
  'definitions',
  'context_segments',
  'memory_entries',
  'memory_drops',
  'memory_tags',
  'memory_scopes',
  'blobs',
  'blob_bodies',
  'blob_refs',
  'blob_usage',
  'artifacts',
  'shared_rows',
  'purged_runs',
  'tombstones',
  'checkpoints',
  'index_checkpoints',
];

const otherTables: Readonly<Record<string, string>> = {
  credentials: 'what people signed in with, sealed under the key of the host',
  expiring: 'ended sessions and sign-in links, which expire',
  folder_facts: 'the key of the folder, and since when cursors have no gaps',
  idempotency: 'answers to requests, which expire',
  marks: 'how far readers of the log are',
  memory_words: 'the search index, which is rebuilt from the memories',
  migrations: 'the versions of the schema',
  packs: 'what is installed; each run is pinned to the definitions that it used',
  sign_in_attempts: 'sign-ins under way, which expire',
  sqlite_sequence: 'the next keys, kept by SQLite',
  subscriptions: 'who is told of events',
  tenant_usage: 'counted bytes, for quotas',
  workflows: 'what is registered; each run is pinned to its definition',
};

const exempt: Readonly<Record<string, string>> = {
  'runs.fence': 'the state of the queue, which no event holds',
  'runs.owner': 'the state of the queue',
  'runs.wake_at': 'the state of the queue',
  'runs.imported_at': 'when it was imported, which its events do not say',
  'interrupts.place': 'the order of a list',
  'artifacts.life': 'who writes a version at present',
  'artifacts.call': 'who writes a version at present',
  'blobs.put_at': 'when it was stored, which no event says',
  'purged_runs.unfinished': 'whether the purge goes on, which ends the same either way',
};

test('a folder that no one touched has no problem', async () => {
  expect(problemsOf(await sampleFolder())).toEqual([]);
  expect(problemsOf(await fullFolder())).toEqual([]);
});

test('a large event of many small values is right, although nothing of it is kept apart', async () => {
  const folder = await sampleFolder();
  const store = await openSqliteStore({ folder });
  const payload = JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`name${i}`, i])));
  await store.log.append({ runId: runA, rows: [row('log.appended', { payload })] });
  await store.close();
  expect(problemsOf(folder)).toEqual([]);
});

/** The task face of an event, and what it is found by. */
const faces = ['task', 'face'];

/** Each of their rows is an event, or stands at one. */
const namesEvent = ['events', 'tombstones', 'interrupts', 'checkpoints', 'index_checkpoints', 'shared_rows'];

test('a changed value in any column of any row is found, and its event is named', async () => {
  const folder = await fullFolder();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec('PRAGMA synchronous = OFF');
  onTestFinished(() => db.close());
  expect(tablesIn(db)).toEqual([...tables, ...Object.keys(otherTables)].sort());
  const lost = db.prepare('SELECT key FROM runs WHERE frozen IS NOT NULL').get()?.key;
  expect(lost).toBeGreaterThan(0);
  const missed: string[] = [];
  const unnamed: string[] = [];
  let changes = 0;
  for (const table of tables) {
    const keys = primaryKey(db, table);
    for (const found of db.prepare(`SELECT * FROM ${table}`).all()) {
      for (const column of storedColumns(db, table)) {
        if (exempt[`${table}.${column}`] !== undefined) continue;
        // The faces of a fork that lost its first events follow from those too.
        if (table === 'events' && faces.includes(column) && found.run === lost) continue;
        const where = keys.map((key) => `${key} = ?`).join(' AND ');
        const place = keys.map((key) => found[key] ?? null);
        const set = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`);
        for (const wrong of damaged(found[column] ?? null, changes)) {
          const moved = keys.map((key, i) => (key === column ? wrong : (place[i] ?? null)));
          try {
            if (Number(set.run(wrong, ...place).changes) === 0) continue;
          } catch {
            continue; // another row has the value, or the type of the column forbids it
          }
          changes += 1;
          const problems = problemsOf(folder);
          const what = `${table}.${column} of ${place.join(' ')}: ${String(wrong).slice(0, 40)}`;
          if (problems.length === 0) missed.push(what);
          if (namesEvent.includes(table) && !problems.some(({ seq }) => seq !== null)) unnamed.push(what);
          set.run(found[column] ?? null, ...moved);
        }
      }
    }
  }
  expect(missed).toEqual([]);
  expect(unnamed).toEqual([]);
  expect(changes).toBeGreaterThan(200);
  expect(problemsOf(folder)).toEqual([]);
});

test('an event that was emptied is found, and so is one that was purged although its run was not', async () => {
  const folder = await fullFolder();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec('PRAGMA synchronous = OFF');
  onTestFinished(() => db.close());
  const events = db.prepare('SELECT cursor, run, seq, payload FROM events').all();
  const empty = db.prepare('UPDATE events SET payload = ? WHERE cursor = ?');
  for (const { cursor, seq, payload } of events) {
    empty.run('', cursor ?? null);
    const expected = { seq, message: expect.stringContaining(`Event ${seq} of run`) };
    expect(problemsOf(folder)).toContainEqual(expect.objectContaining(expected));
    empty.run(payload ?? null, cursor ?? null);
  }
  const [{ cursor = null, seq } = {}] = events.filter(({ run }) => run === 1).slice(-1);
  defineMarks(db);
  db.prepare(
    `INSERT INTO tombstones (${TOMBSTONE_COLUMNS}, mark)
       SELECT ${TOMBSTONE_COLUMNS}, mark_of(${TOMBSTONE_COLUMNS}) FROM events WHERE cursor = ?`,
  ).run(cursor);
  db.prepare('DELETE FROM events WHERE cursor = ?').run(cursor);
  const message = `event ${seq} was purged, but its run was not`;
  expect(problemsOf(folder)).toContainEqual({ runId: runA, seq, message });
});

test('a flipped byte anywhere in the file is found, unless no table holds it', async () => {
  const folder = await fullFolder();
  const file = join(folder, 'cairn.db');
  const whole = readFileSync(file);
  const before = contentOf(file);
  const damagedFolder = mkdtempSync(join(tmpdir(), 'cairn-flip-'));
  onTestFinished(() => rmSync(damagedFolder, { recursive: true, force: true }));
  const copy = join(damagedFolder, 'cairn.db');
  copyFileSync(file, copy);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 7 }), (place, bit) => {
      const bytes = Buffer.from(whole);
      bytes[place] = (whole[place] ?? 0) ^ (1 << bit);
      writeFileSync(copy, bytes);
      if (isFound(damagedFolder)) return;
      expect(contentOf(copy)).toEqual(before);
    }),
    { numRuns: 150 },
  );
});

function isFound(folder: string): boolean {
  try {
    return problemsOf(folder).length > 0;
  } catch (error) {
    if (isCairnError(error)) return true;
    throw error;
  }
}

/** Values that differ from a stored one in one place: the first, the middle or the last of a text, in turns. */
function damaged(value: SQLOutputValue, turn: number): readonly SQLInputValue[] {
  if (value === null) return [7, 'x'];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') {
    const flip = (at: number) => value.slice(0, at) + (value[at] === 'a' ? 'b' : 'a') + value.slice(at + 1);
    return value === '' ? ['x'] : [flip([0, value.length >> 1, value.length - 1][turn % 3] ?? 0)];
  }
  if (value instanceof Uint8Array) return [value.with(0, (value[0] ?? 0) ^ 1)];
  return [];
}

/** Virtual tables stand for the tables that SQLite keeps for them. */
const tablesIn = (db: DatabaseSync): readonly string[] =>
  db
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') ORDER BY name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name !== 'sqlite_schema');

const columnsOf = (db: DatabaseSync, table: string) => db.prepare(`PRAGMA table_xinfo(${table})`).all();

/** Generated columns hold nothing of their own. */
const storedColumns = (db: DatabaseSync, table: string): readonly string[] =>
  columnsOf(db, table)
    .filter(({ hidden }) => hidden === 0)
    .map(({ name }) => String(name).toLowerCase());

const primaryKey = (db: DatabaseSync, table: string): readonly string[] =>
  columnsOf(db, table)
    .filter(({ pk }) => pk !== 0)
    .map(({ name }) => String(name));

/** Without the faces of a fork that lost its first events. */
const ofWhole = (column: string) => `iif(run IN (SELECT key FROM runs WHERE frozen IS NOT NULL), NULL, ${column})`;

/** Everything in the covered columns. */
function contentOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return tables.map((table) => {
      const columns = storedColumns(db, table).filter((column) => exempt[`${table}.${column}`] === undefined);
      const shown = columns.map((column) => (table === 'events' && faces.includes(column) ? ofWhole(column) : column));
      // By place: to SQLite, a flipped capital in the name of a column is the same name.
      return db
        .prepare(`SELECT ${shown.join(', ')} FROM ${table} ORDER BY 1, 2`)
        .all()
        .map(Object.values);
    });
  } finally {
    db.close();
  }
}
