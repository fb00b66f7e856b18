/** Whatever is changed in a database, verification finds it, and names the event that it is in. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { isCairnError } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { problemsOf, sampleFolder } from './damaged-folder.kit.ts';

/** What the events say, or what follows from them. */
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
];

/** The state of the queue, which no event holds, and the order of rows in a list. */
const exempt = new Set([
  'runs.fence',
  'runs.owner',
  'runs.wake_at',
  'runs.imported_at',
  'interrupts.place',
  'blobs.put_at',
]);

test('a folder that no one touched has no problem', async () => {
  expect(problemsOf(await sampleFolder())).toEqual([]);
});

test('a changed value in any column of any row is found, and its event is named', async () => {
  const folder = await sampleFolder();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  onTestFinished(() => db.close());
  const missed: string[] = [];
  const unnamed: string[] = [];
  let changes = 0;
  for (const table of tables) {
    const keys = primaryKey(db, table);
    for (const found of db.prepare(`SELECT * FROM ${table}`).all()) {
      for (const column of storedColumns(db, table)) {
        if (exempt.has(`${table}.${column}`)) continue;
        const where = keys.map((key) => `${key} = ?`).join(' AND ');
        const place = keys.map((key) => found[key] ?? null);
        const set = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`);
        for (const wrong of damaged(found[column] ?? null)) {
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
          if (table === 'events' && !problems.some(({ seq }) => seq !== null) && column !== 'cursor')
            unnamed.push(what);
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

test('a flipped byte anywhere in the file is found, unless no table holds it', async () => {
  const folder = await sampleFolder();
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

/** Values that differ from a stored one in one place. */
function damaged(value: SQLOutputValue): readonly SQLInputValue[] {
  if (value === null) return [7, 'x'];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') {
    const flip = (at: number) => value.slice(0, at) + (value[at] === 'a' ? 'b' : 'a') + value.slice(at + 1);
    return value === '' ? ['x'] : [...new Set([0, Math.floor(value.length / 2), value.length - 1])].map(flip);
  }
  if (value instanceof Uint8Array) return [value.with(0, (value[0] ?? 0) ^ 1)];
  return [];
}

const columnsOf = (db: DatabaseSync, table: string) => db.prepare(`PRAGMA table_xinfo(${table})`).all();

/** Generated columns hold nothing of their own. */
const storedColumns = (db: DatabaseSync, table: string): readonly string[] =>
  columnsOf(db, table)
    .filter(({ hidden }) => hidden === 0)
    .map(({ name }) => String(name));

const primaryKey = (db: DatabaseSync, table: string): readonly string[] =>
  columnsOf(db, table)
    .filter(({ pk }) => pk !== 0)
    .map(({ name }) => String(name));

/** Everything in the covered columns. */
function contentOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return tables.map((table) => {
      const columns = storedColumns(db, table).filter((column) => !exempt.has(`${table}.${column}`));
      return db.prepare(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY 1, 2`).all();
    });
  } finally {
    db.close();
  }
}
