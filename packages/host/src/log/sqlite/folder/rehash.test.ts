/** A folder with the hashes of an earlier recipe gets the present ones, and keeps what was damaged visible. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import { chainStart, verifyChain } from '../../chain.ts';
import type { Row } from '../../ports/rows.ts';
import { creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open, undo } from './folders.kit.ts';
import { openDatabase } from './open.ts';
import { openReadOnly } from './read-only.ts';
import { rehash, rehashRows } from './rehash.ts';

const { fresh } = folders();
const sha = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** A second implementation of the earlier recipe. */
function earlierHashes(rows: readonly Row[]): readonly (readonly [own: string, hash: string])[] {
  let hash = chainStart(rows[0]?.runId ?? runA);
  return rows.map(({ seq, contextId, at, type, nodeId, cause, audience, payload, task }) => {
    const columns = JSON.stringify([seq, contextId, at, type, nodeId, cause, audience]);
    const own = sha(`${columns}\n${payload}\n${task ?? ''}`);
    hash = sha(hash + own);
    return [own, hash] as const;
  });
}

/** Two runs with values that are kept apart and values that are not, hashed as an earlier program did. */
async function earlierFolder(): Promise<{ readonly folder: string; readonly before: readonly Row[] }> {
  const folder = fresh();
  const store = await open(folder);
  const large = JSON.stringify({ value: 'é'.repeat(20_000) });
  const rich = [row('a', { payload: large, task: large }), row('b', { nodeId: '"é', cause: 0, audience: 'operator' })];
  await store.log.append(creation(runA, { rows: [started(), ...rich] }));
  await store.log.append(creation(runB, { rows: [started()] }));
  await store.log.append({ runId: runA, rows: [row('c', { task: '{}' })] });
  const before = [...(await rowsOf(store, runA)), ...(await rowsOf(store, runB))];
  await store.close();
  undo(folder, rehashRows.name);
  change(folder, (db) => {
    const set = db.prepare('UPDATE events SET row_hash = ?, hash = ? WHERE cursor = ?');
    for (const runId of [runA, runB]) {
      const rows = before.filter((found) => found.runId === runId);
      for (const [place, hashes] of earlierHashes(rows).entries()) set.run(...hashes, rows[place]?.cursor ?? 0);
    }
  });
  return { folder, before };
}

function change(folder: string, edit: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  edit(db);
  db.close();
}

async function migrated(folder: string): Promise<readonly Row[]> {
  const store = await open(folder);
  const rows = [...(await rowsOf(store, runA)), ...(await rowsOf(store, runB))];
  await store.close();
  return rows;
}

it('gives every row the hash that it would get today, and changes nothing else', async () => {
  const { folder, before } = await earlierFolder();
  expect(await migrated(folder)).toEqual(before);
});

it('goes on after a step that was the last of a process', async () => {
  const { folder, before } = await earlierFolder();
  const db = openDatabase(join(folder, 'cairn.db'));
  let commits = 0;
  const dying = new Proxy(db, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'exec') {
        return (sql: string) => {
          if (sql === 'COMMIT' && ++commits === 3) throw new Error('killed');
          target.exec(sql);
        };
      }
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  expect(() => rehash(dying, { stepRows: 1, onProgress: () => {} })).toThrow('killed');
  db.close();
  expect(commits).toBe(3);
  expect(await migrated(folder)).toEqual(before);
});

it.each([
  ['a payload', 'UPDATE events SET payload = \'{"x":1}\' WHERE seq = 2', 'row-hash'],
  ['a task face', 'UPDATE events SET task = \'{"x":1}\' WHERE seq = 2', 'row-hash'],
  ['a hash of the chain', "UPDATE events SET hash = '0' WHERE seq = 2", 'chain-hash'],
  ['a hash of a row', "UPDATE events SET row_hash = '0' WHERE seq = 2", 'row-hash'],
])('does not hide that %s was damaged before', async (_, sql, reason) => {
  const { folder } = await earlierFolder();
  change(folder, (db) => db.exec(sql));
  const rows = await migrated(folder);
  expect(
    verifyChain(
      rows.filter(({ runId }) => runId === runA),
      runA,
    ),
  ).toEqual({ seq: 2, reason });
  expect(
    verifyChain(
      rows.filter(({ runId }) => runId === runB),
      runB,
    ),
  ).toBeNull();
});

it('lets a folder open that lost a value of a row, and leaves the other runs valid', async () => {
  const { folder, before } = await earlierFolder();
  change(folder, (db) => db.exec('DELETE FROM large_values'));
  const store = await open(folder);
  await expect(rowsOf(store, runA)).rejects.toThrow('large-value-exists');
  expect(await rowsOf(store, runB)).toEqual(before.slice(-1));
  await store.close();
});

it('reports how many rows are done', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA, { rows: [started(), ...Array.from({ length: 45 }, () => row('a'))] }));
  await store.close();
  const db = openDatabase(join(folder, 'cairn.db'));
  const told: unknown[] = [];
  rehash(db, { stepRows: 1, onProgress: (progress) => told.push(progress) });
  db.close();
  expect(told).toEqual([
    { rows: 20, ofRows: 46 },
    { rows: 40, ofRows: 46 },
  ]);
});

it('is asked for by a command that only reads', async () => {
  const { folder } = await earlierFolder();
  const offline = openReadOnly(folder);
  expect(() => offline.run(runA)).toThrow(/has version \d+; this program reads runs of version/);
  expect([...offline.runs()]).toHaveLength(2);
  offline.close();
  await migrated(folder);
  const again = openReadOnly(folder);
  const run = again.run(runA);
  expect(run === null ? null : verifyChain(again.rows(run), runA)).toBeNull();
  again.close();
});
