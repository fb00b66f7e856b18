/** A stored task face can be lost, damaged or outdated: a rebuild gives each row its face, and leaves the hashes. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { creation, row, runA, runB, started } from '../ports/samples.kit.ts';
import { folders, open } from './folder/folders.kit.ts';
import { openReadOnly } from './folder/read-only.ts';

const { fresh } = folders();

const large = 'é'.repeat(9_000);

/** Run A has a face with a large value; run B has 1,200 rows, more than a page. All faces are right. */
async function folderWithFaces() {
  const folder = fresh();
  const store = await open(folder);
  const many = Array.from({ length: 1_200 }, () => row('log.appended'));
  await store.log.append(creation(runA, { rows: [started({ inputs: { message: large } })] }));
  await store.log.append(creation(runB, { rows: [started(), ...many, row('run.completed')] }));
  await store.rebuildFaces();
  const rows = [...(await rowsOf(store, runA)), ...(await rowsOf(store, runB))];
  const bytes = await store.runIndex.tenantLogBytes('t');
  await store.close();
  return { folder, rows, bytes };
}

it.each([
  ['a lost face', "UPDATE events SET task = NULL WHERE type = 'run.started' AND run = 2", { rows: 1, runs: 1 }],
  ['a damaged face', "UPDATE events SET task = '{}' WHERE type = 'run.completed'", { rows: 1, runs: 1 }],
  [
    'an outdated face with a large value',
    "UPDATE events SET task = '{}', cuts = json_set(cuts, '$[1]', json('[]')) WHERE run = 1",
    { rows: 1, runs: 1 },
  ],
  ['a face where none belongs', "UPDATE events SET task = '{}' WHERE type = 'log.appended'", { rows: 1_200, runs: 1 }],
  ['nothing wrong', '', { rows: 0, runs: 0 }],
])('mends %s', async (_, damage, expected) => {
  const { folder, rows, bytes } = await folderWithFaces();
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  db.exec(damage);
  db.close();
  const store = await open(folder);
  expect(await store.rebuildFaces()).toEqual(expected);
  const after = [...(await rowsOf(store, runA)), ...(await rowsOf(store, runB))];
  expect(after).toEqual(rows);
  expect(verifyChain(await rowsOf(store, runB), runB)).toBeNull();
  expect(await store.runIndex.tenantLogBytes('t')).toBe(bytes);
  expect(await store.rebuildFaces()).toEqual({ rows: 0, runs: 0 });
  await store.close();
  const log = openReadOnly(folder);
  const found: string[] = [];
  for (const { runId } of log.runs()) {
    const run = present(log.run(runId));
    log.checks.run(run, log.rows(run), (_seq, message) => found.push(message));
  }
  log.close();
  expect(found.filter((message) => /task face|size/.test(message))).toEqual([]);
});
