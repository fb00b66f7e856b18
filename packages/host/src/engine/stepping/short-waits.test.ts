import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, settled } from '../../../test/kit/engine-bench.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Checkpoint } from '../../log/ports/checkpoints.ts';
import type { Store } from '../../log/ports/store.ts';
import { ShortWaits } from './short-waits.ts';

/** Counts what waking costs: leases taken and returned, states read and saved, and appends. */
function counted(store: Store) {
  const counts = { claims: 0, releases: 0, heads: 0, appends: 0 };
  const saved: Checkpoint[] = [];
  const log: Store['log'] = {
    ...store.log,
    head: (runId) => {
      counts.heads += 1;
      return store.log.head(runId);
    },
    append: (append) => {
      counts.appends += 1;
      return store.log.append(append);
    },
  };
  const queue: Store['queue'] = {
    ...store.queue,
    claim: (request) => {
      counts.claims += 1;
      return store.queue.claim(request);
    },
    release: (lease) => {
      counts.releases += 1;
      return store.queue.release(lease);
    },
  };
  const checkpoints: Store['checkpoints'] = {
    ...store.checkpoints,
    put: (checkpoint) => {
      saved.push(checkpoint);
      return store.checkpoints.put(checkpoint);
    },
  };
  return { counts, saved, over: { ...store, log, queue, checkpoints } };
}

const delay = (delayMs: number) => ({ typeId: 'core.delay', config: { delayMs } });
const delays = (count: number, delayMs: number) => chain(...Array.from({ length: count }, () => delay(delayMs)));

test('a run wakes from each short wait with one append: no claim, no load, no checkpoint', async () => {
  const { node, begin, seen, clock, store } = bench();
  const { counts, saved, over } = counted(store);
  const engine = node('a', [], over);
  await engine.open();
  const runId = await begin(engine, delays(50, 20));
  const before = { ...counts };
  for (let woken = 1; woken <= 40; woken++) {
    clock.advance(20);
    await seen(runId, 'cairn.timer.fired', woken);
    await settled();
  }
  expect(counts).toEqual({ ...before, appends: before.appends + 40 });
  expect(saved).toEqual([]);
  expect(await store.log.head(runId)).toMatchObject({ owner: 'a' });
});

test('an alarm that rings early is set again and writes nothing', async () => {
  const { node, begin, seen, clock, store } = bench();
  const { counts, over } = counted(store);
  const engine = node('a', [], over);
  const runId = await begin(engine, delays(1, 500));
  const { ...before } = counts;
  // The clock is set back while the timer runs.
  clock.pass(500);
  const [alarm] = clock.due();
  clock.set(clock.now() - 1);
  if (alarm !== undefined) clock.fire(alarm);
  await settled();
  expect(counts).toEqual(before);
  expect(await store.log.head(runId)).toMatchObject({ owner: 'a' });
  clock.advance(1);
  await seen(runId, 'run.completed');
});

test('a wait of a second or more gives the lease back', async () => {
  const { node, begin, store } = bench();
  const runId = await begin(node('a'), delays(1, 1_000));
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
});

test('a host that stops during a short wait returns the run at once, and another fires the timer', async () => {
  const { node, begin, seen, clock, store } = bench();
  const engine = node('a');
  await engine.open();
  const runId = await begin(engine, delays(1, 500));
  await engine.close();
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
  const other = node('b');
  await other.open();
  clock.advance(500);
  await seen(runId, 'run.completed');
  await other.close();
});

test('a host that dies during a short wait loses no timer', async () => {
  const { node, begin, seen, clock, store } = bench();
  const runId = await begin(node('dead'), delays(1, 500));
  clock.forget();
  await node('alive').open();
  clock.advance(20_000);
  await seen(runId, 'run.completed');
  expect(await store.log.head(runId)).toMatchObject({ owner: null });
});

test('runs that find no room in memory rest in the queue, and all of them wake', async () => {
  const store = inMemoryStore();
  const { node, seen, clock } = bench(store);
  const engine = node('a');
  await engine.open();
  await engine.register('t', delays(1, 500));
  const start = { tenant: 't', workflowId: 'flow', inputs: { text: 'x'.repeat(200_000) }, options: {} };
  const runIds: RunId[] = [];
  // A tenant has room for 16 MB.
  for (let i = 0; i < 82; i++) runIds.push((await engine.start(start)).runId);
  const heads = await Promise.all(runIds.map((runId) => store.log.head(runId)));
  const held = heads.filter((head) => head?.owner === 'a').length;
  expect(held).toBeGreaterThan(10);
  expect(held).toBeLessThanOrEqual(80);
  expect(heads.at(-1)).toMatchObject({ owner: null });
  clock.advance(1_000);
  for (const runId of runIds) await seen(runId, 'run.completed');
});

test('one tenant cannot take the room of another', () => {
  const waits = new ShortWaits({ bytes: 100_000, bytesPerTenant: 40_000 });
  const enter = (tenant: string) => Array.from({ length: 10 }, () => waits.enter(tenant, 6_000)).filter(Boolean).length;
  expect([enter('a'), enter('b'), enter('c')]).toEqual([4, 4, 2]);
  waits.leave('a', 6_000);
  expect(waits.enter('c', 6_000)).toBe(true);
  expect(waits.enter('a', 6_000)).toBe(false);
});
