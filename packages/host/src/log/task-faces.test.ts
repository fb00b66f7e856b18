/** Faces are projections: the rows of a run give them again, and nothing but the rows. */
import { describe, expect, it } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { rowsOf } from '../../test/kit/rows-of.ts';
import { verifyChain } from './chain.ts';
import { inMemoryStore } from './in-memory/store.ts';
import { MAX_EVENT_BYTES, type NewRow } from './ports/rows.ts';
import { creation, row, runA, started } from './ports/samples.kit.ts';
import { faceCheck, taskFaces } from './task-faces.ts';
import { faceColumns } from './tasks/face-columns.ts';

const node = (type: string, payload: object): NewRow =>
  row(type, { nodeId: 'a', payload: JSON.stringify({ nodeId: 'a', ...payload }) });

async function stored(rows: readonly NewRow[]) {
  const store = inMemoryStore();
  await store.log.append(creation(runA, { rows }));
  return rowsOf(store, runA);
}

const plain = () =>
  stored([
    started({ inputs: { message: 'hello' } }),
    node('node.started', { typeId: 'core.noop', attempt: 0, visit: 0 }),
    node('node.completed', { typeId: 'core.noop', outputs: { sum: 3 } }),
    row('run.completed', { payload: '{"outputs":{"content":"done"}}' }),
  ]);

const facedAs = (task: string | null) => ({
  task,
  face: faceColumns(task, { audience: 'client', isSubtask: false }),
});

describe('the task faces of a run', () => {
  it('follow from its rows alone', async () => {
    const rows = await plain();
    const faceOf = taskFaces(runA);
    const kinds = rows.map((found) => JSON.parse(faceOf(found) ?? '{}').kind);
    expect(kinds).toEqual(['task-created', 'tool-start', 'tool-complete', 'task-complete']);
  });

  it('are found when they differ, and given to an old log without another hash', async () => {
    const rows = await plain();
    const check = faceCheck({ runId: runA, parentRunId: null, fork: null });
    const better = rows.map((found) => ({ ...found, ...facedAs(present(check(found)).face) }));
    expect(verifyChain(better, runA)).toBeNull();
    const again = faceCheck({ runId: runA, parentRunId: null, fork: null });
    expect(better.map(again)).toEqual([null, null, null, null]);
    const damaged = faceCheck({ runId: runA, parentRunId: null, fork: null });
    const found = better.with(2, { ...present(better[2]), task: '{}' }).map(damaged);
    expect(found.map((wrong) => wrong?.face ?? null)).toEqual([null, null, better[2]?.task, null]);
  });

  it('are not compared after a row that cannot be read', async () => {
    const rows = await plain();
    const check = faceCheck({ runId: runA, parentRunId: null, fork: null });
    const wrong = rows.with(1, { ...present(rows[1]), payload: '{' }).map(check);
    expect(wrong.map((one) => one !== null)).toEqual([true, false, false, false]);
  });

  it('are left out where they would not fit into their event', () => {
    const faceOf = taskFaces(runA);
    const text = 'x'.repeat(MAX_EVENT_BYTES - 1_000);
    const payload = JSON.stringify({ inputs: { message: text }, owner: { tenant: 't' }, workflowId: 'w' });
    expect(faceOf({ seq: 0, at: 0, type: 'run.started', nodeId: null, cause: null, payload })).toBeNull();
  });
});
