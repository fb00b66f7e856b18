/** A stored task face can be lost, damaged or outdated: a rebuild gives each row its face, and leaves the hashes. */
import { expect, it, onTestFinished } from 'vitest';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { creation, row, runA, runB, started } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore } from './store.ts';

it('mends faces that are lost, damaged, or where none belongs', async () => {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, connections: 2, elapsedMs });
  const pool = connect({ url, connections: 1 });
  onTestFinished(async () => {
    await store.close();
    await pool.end();
  });
  const many = Array.from({ length: 600 }, () => row('log.appended'));
  await store.log.append(creation(runA, { rows: [started({ inputs: { message: 'é'.repeat(9_000) } })] }));
  await store.log.append(creation(runB, { rows: [started(), ...many, row('run.completed')] }));
  await store.rebuildFaces();
  const all = async () => [...(await rowsOf(store, runA)), ...(await rowsOf(store, runB))];
  const rows = await all();
  const bytes = await store.runIndex.tenantLogBytes('t');
  const damage = async (statement: string): Promise<unknown> => {
    await new Database(pool).changed(statement);
    return store.rebuildFaces();
  };
  const [lost, damaged, extra] = [
    await damage("UPDATE cairn.events SET task = NULL, task_size = 0 WHERE type = 'run.started'"),
    await damage("UPDATE cairn.events SET task = '{}', face = 0 WHERE type = 'run.completed'"),
    await damage("UPDATE cairn.events SET task = '{}' WHERE type = 'log.appended'"),
  ];
  expect([lost, damaged, extra]).toEqual([
    { rows: 2, runs: 2 },
    { rows: 1, runs: 1 },
    { rows: 600, runs: 1 },
  ]);
  expect(await all()).toEqual(rows);
  expect(verifyChain(await rowsOf(store, runB), runB)).toBeNull();
  expect(await store.runIndex.tenantLogBytes('t')).toBe(bytes);
  expect(await store.rebuildFaces()).toEqual({ rows: 0, runs: 0 });
});
