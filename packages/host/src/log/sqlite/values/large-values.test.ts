/** A large value of a run is on disk once, and every reader still gets the texts as they were written. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import { verifyChain } from '../../chain.ts';
import { context, creation, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open } from '../folder/folders.kit.ts';
import { openReadOnly } from '../folder/read-only.ts';

const { fresh } = folders();

/** No two parts of it are alike, so nothing but a reference can make it smaller. */
const text = (name: string, chars: number): string =>
  Array.from({ length: chars / 8 }, (_, i) => `${name}${i}`.padEnd(8, '~').slice(0, 8)).join('');

/** A chain of steps whose result is the input of the next, as the engine writes it. */
function chain(steps: number, chars: number) {
  const rows = [started()];
  for (let i = 0; i < steps; i += 1) {
    const outputs = { text: text(`${i}-`, chars) };
    const given = i === 0 ? {} : { input: { text: text(`${i - 1}-`, chars) } };
    const begun = JSON.stringify({ nodeId: `n${i}`, inputs: given });
    rows.push(row('node.started', { payload: begun, task: JSON.stringify({ kind: 'tool-start', arguments: given }) }));
    rows.push(row('cairn.step.returned', { audience: 'operator', payload: JSON.stringify({ outcome: outputs }) }));
    const done = JSON.stringify({ nodeId: `n${i}`, outputs, edges: {} });
    rows.push(
      row('node.completed', { payload: done, task: JSON.stringify({ kind: 'tool-complete', result: outputs }) }),
    );
  }
  return rows;
}

const pages = (folder: string): number => {
  const db = new DatabaseSync(join(folder, 'cairn.db'), { readOnly: true });
  const bytes = Number(
    db.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size').get()?.bytes,
  );
  db.close();
  return bytes;
};

it('keeps forty steps of 100 kB in less than 1.3 times their size', async () => {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(runA, { rows: chain(40, 100_000) }));
  await store.close();
  expect(pages(folder)).toBeLessThan(1.3 * 40 * 100_000);
});

it('gives every reader the texts that were written, and hashes that match them', async () => {
  const folder = fresh();
  const store = await open(folder);
  const written = chain(5, 20_000);
  await store.log.append(creation(runA, { rows: written }));
  const texts = (rows: Iterable<{ payload: string; task: string | null }>) =>
    [...rows].map(({ payload, task }) => ({ payload, task }));
  const rows = await rowsOf(store, runA);
  expect(texts(rows)).toEqual(texts(written));
  expect(verifyChain(rows, runA)).toBeNull();
  expect(texts((await store.changes.read({ after: '0', limit: 99, filter: null })).rows)).toEqual(texts(written));
  expect(texts(await store.log.read({ contextId: context, afterCursor: 0, limit: 99 }))).toEqual(texts(written));
  const frames = await store.log.read({ runId: runA, after: -1, limit: 99, isForFrames: true });
  expect(frames.map(({ payload }) => payload)).toEqual(written.map(({ payload }) => payload));
  await store.close();
  const offline = openReadOnly(folder);
  const run = offline.run(runA);
  expect(run === null ? null : texts(offline.rows(run))).toEqual(texts(written));
  offline.close();
});

it('keeps a value for each run that holds it', async () => {
  const folder = fresh();
  const store = await open(folder);
  const value = JSON.stringify({ value: text('v', 8_000) });
  const twice = [started(), row('a', { payload: value }), row('b', { payload: value, task: value })];
  await store.log.append(creation(runA, { rows: twice }));
  await store.log.append(creation(runB, { rows: twice }));
  await store.close();
  const db = new DatabaseSync(join(folder, 'cairn.db'), { readOnly: true });
  expect(db.prepare('SELECT count(*) AS n FROM large_values').get()?.n).toBe(2);
  db.close();
});
