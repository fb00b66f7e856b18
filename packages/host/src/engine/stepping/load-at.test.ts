/** The state at any row, from the nearest checkpoint: equal to the fold from the first row, also in a fork. */
import { hash } from 'node:crypto';
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain } from '../../../test/kit/engine-bench.ts';
import { present } from '../../../test/kit/present.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import type { RunRows } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import { createRunLoader } from '../loading/run-loader.ts';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';
import { createRunPins } from '../pins/run-pins.ts';
import { LongWork } from '../shares/long-work.ts';
import { createWorkflowRegistry } from '../workflow/workflow-registry.ts';

const fork = 'run_fork' as RunId;

/** A loader, and the number of rows that it read since the count was last taken. */
function loading(store: Store) {
  const longWork = new LongWork(null);
  let rows = 0;
  const read: Store['log']['read'] = async (range) => {
    const found = await store.log.read(range as RunRows);
    rows += found.length;
    return found;
  };
  const workflows = createWorkflowRegistry({
    store,
    nodeTypes: createNodeTypeRegistry([]),
    clock: new VirtualClock(0),
    longWork,
    sha256: (text, encoding) => hash('sha256', text, encoding),
    limits: { expressionCost: 1_000_000 },
  });
  const over = { ...store, log: { ...store.log, read } };
  const loader = createRunLoader({ store: over, workflows, pins: createRunPins({}), longWork });
  const taken = () => {
    const count = rows;
    rows = 0;
    return count;
  };
  return { loader, taken };
}

async function longRun(nodes = 12) {
  const host = bench();
  const engine = host.node('n1');
  const runId = await host.begin(engine, chain(...Array.from({ length: nodes }, () => 'core.noop')));
  await host.seen(runId, 'run.completed');
  await engine.close();
  const { loader, taken } = loading(host.store);
  const { length } = await host.rows(runId);
  return { store: host.store, runId, length, loader, taken };
}

test('the state at a row is the fold of the rows up to it, and reads only those after the checkpoint', async () => {
  const { store, runId, length, loader, taken } = await longRun();
  const folded = new Map<number, unknown>();
  for (let seq = -1; seq < length; seq += 1)
    folded.set(seq, structuredClone((await loader.loadAt(runId, seq, 't')).state));
  const { state: middle } = await loader.loadAt(runId, 9);
  await loader.saveCheckpoint(middle).saved;
  taken();
  for (let seq = -1; seq < length; seq += 1) {
    const { state } = await loader.loadAt(runId, seq, 't');
    expect(state).toEqual(folded.get(seq));
    expect(taken()).toBe(seq < 9 ? seq + 1 : seq - 9);
  }
  expect((await loader.loadAt(runId, length + 5)).state).toEqual(folded.get(length - 1));
  await expect(loader.loadAt(runId, 3, 'other')).rejects.toMatchObject({ code: 'not_found' });
  await store.close();
});

test('who looks at a row again, or at the next one, folds only what is new', async () => {
  const { store, runId, length, loader, taken } = await longRun(40);
  const at = length - 10;
  const { state: first } = await loader.loadAt(runId, at);
  const folded = structuredClone(first);
  expect(taken()).toBe(at + 1);
  // What a reader does with its state is its own.
  first.nextSeq = 0;
  expect((await loader.loadAt(runId, at)).state).toEqual(folded);
  expect(taken()).toBe(0);
  const { state: next } = await loader.loadAt(runId, at + 1);
  expect(taken()).toBe(1);
  const fresh = loading(store);
  expect(next).toEqual((await fresh.loader.loadAt(runId, at + 1)).state);
  expect((await loader.loadAt(runId, at - 1)).state).toEqual((await fresh.loader.loadAt(runId, at - 1)).state);
  expect(taken()).toBe(at);
  await store.close();
});

test('a fork is loaded from the checkpoints of its source, as a run of its own', async () => {
  const { store, runId, loader, taken } = await longRun();
  const { originRunId } = present(await store.log.head(runId)).record;
  const place = { runId: fork, tenant: 't', contextId: 'ctx_fork' as ContextId, originRunId, at: 5_000 };
  await store.log.fork({ ...place, fork: { sourceRunId: runId, fromSeq: 15, mode: 'branch' } });
  const { state: folded } = await loader.load(fork);
  expect(folded).toMatchObject({ runId: fork, nextSeq: 15, ended: false, view: { runId: fork } });
  await loader.saveCheckpoint((await loader.loadAt(runId, 9)).state).saved;
  taken();
  const { state } = await loader.load(fork);
  expect(state).toEqual(folded);
  expect(taken()).toBe(5);
  const second = 'run_second' as RunId;
  const again = { ...place, runId: second, contextId: 'ctx_second' as ContextId };
  await store.log.fork({ ...again, fork: { sourceRunId: fork, fromSeq: 12, mode: 'branch' } });
  expect((await loader.load(second)).state).toMatchObject({ runId: second, nextSeq: 12 });
  expect(taken()).toBe(2);
  await store.close();
});
