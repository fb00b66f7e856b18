import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, settled } from '../../../test/kit/engine-bench.ts';
import type { Store } from '../../log/ports/store.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { RecentStates, type RestingRun } from './recent-states.ts';

/** Counts the checkpoints and rows that a node reads. */
function readsOf(store: Store) {
  const reads = { checkpoints: 0, rows: 0 };
  const log: Store['log'] = {
    ...store.log,
    read: async (range) => {
      const rows = await store.log.read(range);
      reads.rows += rows.length;
      return rows;
    },
  };
  const checkpoints: Store['checkpoints'] = {
    ...store.checkpoints,
    get: (runId) => {
      reads.checkpoints += 1;
      return store.checkpoints.get(runId);
    },
  };
  return { reads, over: { ...store, log, checkpoints } };
}

const delay = (delayMs: number) => ({ typeId: 'core.delay', config: { delayMs } });
const delays = (count: number, delayMs: number) => chain(...Array.from({ length: count }, () => delay(delayMs)));

test('a run that rested for seconds wakes without reading its history', async () => {
  const { node, begin, seen, clock, store } = bench();
  const { reads, over } = readsOf(store);
  const engine = node('a', [], over);
  await engine.open();
  const runId = await begin(engine, delays(5, 5_000));
  for (let woken = 1; woken <= 4; woken++) {
    clock.advance(5_000);
    await seen(runId, 'cairn.timer.fired', woken);
    await settled();
  }
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  expect(reads).toEqual({ checkpoints: 0, rows: 0 });
});

test('a run that rests for longer than a minute is read from the log', async () => {
  const { node, begin, seen, clock, store } = bench();
  const { reads, over } = readsOf(store);
  const engine = node('a', [], over);
  await engine.open();
  const runId = await begin(engine, delays(1, 61_000));
  clock.advance(61_000);
  await seen(runId, 'run.completed');
  expect(reads.checkpoints).toBe(1);
});

test('rows that another node wrote meanwhile are folded into the kept state', async () => {
  const { node, begin, seen, clock, store } = bench();
  const { reads, over } = readsOf(store);
  const definition = { ...chain(delay(5_000), 'core.approvalGate', delay(5_000)), edges: [] };
  const engine = node('a', [], over);
  await engine.open();
  const runId = await begin(engine, definition);
  await seen(runId, 'interrupt.requested');
  const other = node('b');
  await other.answer({ tenant: 't', runId, nodeId: 'n2', value: { action: 'accept' } });
  await settled();
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  clock.advance(5_000);
  await seen(runId, 'run.completed');
  expect(reads.checkpoints).toBe(0);
  expect(reads.rows).toBeGreaterThan(0);
  const completed = { status: 'completed' };
  const nodeStates = { n1: completed, n2: completed, n3: completed };
  expect(await engine.snapshot('t', runId)).toMatchObject({ ...completed, nodeStates });
});

const workflow = {} as Workflow;
const resting = (id: string, tenant: string, bytes: number): RestingRun => ({
  state: newRunState(id as RunId),
  workflow,
  record: { tenant, contextId: 'ctx_1' as ContextId },
  checkpoint: { seq: 0, bytes: bytes - 10, tailBytes: 10 },
});

test('the oldest states of a tenant make room for its newer ones, and not those of others', () => {
  const recent = new RecentStates({ bytes: 1_000, bytesPerTenant: 250 });
  recent.put(resting('run_b', 'b', 100));
  for (let i = 1; i <= 3; i++) recent.put(resting(`run_a${i}`, 'a', 100));
  expect(recent.take('run_a1' as RunId)).toBeNull();
  expect(recent.take('run_a2' as RunId)).not.toBeNull();
  expect(recent.take('run_a3' as RunId)).not.toBeNull();
  expect(recent.take('run_b' as RunId)).not.toBeNull();
});

test('all states together stay below the bound, and a taken state leaves its room', () => {
  const recent = new RecentStates({ bytes: 300, bytesPerTenant: 250 });
  for (const id of ['a', 'b', 'c', 'd']) recent.put(resting(`run_${id}`, id, 100));
  expect(recent.take('run_a' as RunId)).toBeNull();
  expect(recent.take('run_b' as RunId)).not.toBeNull();
  expect(recent.take('run_b' as RunId)).toBeNull();
  recent.put(resting('run_e', 'e', 100));
  expect(recent.take('run_c' as RunId)).not.toBeNull();
});

test('a state larger than the share of a tenant is not kept', () => {
  const recent = new RecentStates({ bytes: 1_000, bytesPerTenant: 250 });
  recent.put(resting('run_a', 'a', 100));
  recent.put(resting('run_big', 'a', 251));
  expect(recent.take('run_big' as RunId)).toBeNull();
  expect(recent.take('run_a' as RunId)).not.toBeNull();
});
