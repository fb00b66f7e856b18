/** The columns of a run's row follow from its rows, however its appends share batches. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { creation, row, runA, runB } from '../../ports/samples.kit.ts';
import { connect, Database } from '../database.ts';
import { loadHead } from '../heads.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore } from '../store.ts';

const begun = (runId: RunId) =>
  creation(runId, { create: { tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runId } });

it('keeps the last of several appends to a run in one batch, alone or among others', async () => {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, migrates: true, elapsedMs });
  const pool = connect({ url, connections: 1 });
  onTestFinished(async () => {
    await store.close();
    await pool.end();
  });
  const { log } = store;
  const stored = async (runId: RunId) => (await loadHead(new Database(pool), runId))?.head.record;
  await Promise.all([log.append(begun(runA)), log.append(begun(runB))]);
  const tell = (runId: RunId, types: readonly string[]) =>
    types.map((type) => log.append({ runId, rows: [row(type)] }));
  await Promise.all(tell(runA, ['run.paused', 'run.resumed']));
  expect(await stored(runA)).toMatchObject({ status: 'running' });
  await Promise.all([...tell(runA, ['run.paused', 'run.resumed', 'run.paused']), ...tell(runB, ['run.paused', 'x'])]);
  expect(await stored(runA)).toMatchObject({ status: 'paused' });
  expect(await stored(runB)).toMatchObject({ status: 'paused' });
  await Promise.all([...tell(runA, ['run.resumed', 'run.completed']), ...tell(runB, ['run.resumed'])]);
  expect(await stored(runA)).toMatchObject({ status: 'completed', endedAt: 1_000 });
  expect(await stored(runB)).toMatchObject({ status: 'running', endedAt: null });
});
