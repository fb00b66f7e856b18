/** States of a run: folded once for all, exact for who keeps up, the newest for who does not, and bounded for who stalls. */
import type { JsonObject } from '@cairn/protocol';
import { expect, test, vi } from 'vitest';
import { createLoadView } from '../../engine/loading/run-view.ts';
import { FairTurns } from '../../fair-turns.ts';
import type { InTurn } from '../../log/feed/feed.ts';
import { type Collector, collector } from '../../log/feed/feed-sink.kit.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { creation, row, runA } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { SnapshotFeed } from './snapshot-feed.ts';

interface Seen extends Collector {
  states(): readonly { readonly seq: number; readonly state: JsonObject }[];
}

function seen(): Seen {
  const sink = collector();
  return {
    ...sink,
    states: () =>
      [...sink.chunks.join('').matchAll(/^id: (\d+)\nevent: state\.snapshot\ndata: (.*)$/gm)].map(([, id, data]) => ({
        seq: Number(id),
        state: (JSON.parse(data ?? '') as { payload: JsonObject }).payload,
      })),
  };
}

async function started(): Promise<Store> {
  const store = inMemoryStore();
  await store.log.append(creation(runA));
  return store;
}

const completed = (nodeId: string, text = '') =>
  row('node.completed', { nodeId, payload: JSON.stringify({ nodeId, outputs: { text } }) });
const write = (store: Store, ...rows: readonly NewRow[]) => store.log.append({ runId: runA, rows });
const feedOf = (store: Store, timers = new ManualTimers(), now = () => 0, inTurn?: InTurn) => {
  const turns = new FairTurns({ budget: 1_000_000, nextTurn: setImmediate });
  return new SnapshotFeed({ log: store.log, load: createLoadView(store), turns, timers, now, inTurn });
};
const seqs = (sink: Seen) => sink.states().map(({ seq }) => seq);

async function rest(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('who begins gets every transition from the first, joined with what comes live, once', async () => {
  const store = await started();
  for (let i = 0; i < 250; i += 1) await write(store, completed(`n${i % 3}`));
  const sink = seen();
  feedOf(store).subscribe({ runId: runA, fresh: false, form: 'frames' }, sink);
  // Written while the history is read.
  for (let i = 0; i < 20; i += 1) {
    await write(store, completed('live'), row('log.appended'));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await write(store, row('run.completed'));
  await rest();
  const rows = await store.log.read({ runId: runA, after: -1, limit: 10_000 });
  expect(seqs(sink)).toEqual(rows.filter(({ type }) => type !== 'log.appended').map(({ seq }) => seq));
  expect([sink.ended, sink.states().at(-1)?.state.status]).toEqual([1, 'completed']);
});

test('who comes back gets the state as it is, then what follows', async () => {
  const store = await started();
  await write(store, completed('a'), row('variable.changed', { payload: '{"name":"n","next":7}' }));
  const sink = seen();
  feedOf(store).subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  await write(store, completed('b'));
  await rest();
  expect(seqs(sink)).toEqual([2, 3]);
  expect(sink.states()[0]?.state).toMatchObject({ atSeq: 2, variables: { n: 7 } });
});

test('live readers share one fold of each event', async () => {
  const store = await started();
  const feed = feedOf(store);
  const sinks = Array.from({ length: 50 }, seen);
  for (const sink of sinks) feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  const parsed = vi.spyOn(JSON, 'parse');
  const written = vi.spyOn(JSON, 'stringify');
  await write(store, completed('a'));
  await rest();
  const counts = [parsed.mock.calls.length, written.mock.calls.length];
  parsed.mockRestore();
  written.mockRestore();
  expect(sinks.map((sink) => seqs(sink))).toEqual(sinks.map(() => [0, 1]));
  // One parse of the row and one text of the state; the memory store makes its own few.
  expect(Math.max(...counts)).toBeLessThan(10);
});

test('one that stalls is shown the newest state when it reads again, and the others every one', async () => {
  const store = await started();
  const feed = feedOf(store);
  const [stuck, quick] = [seen(), seen()];
  const subscription = feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, stuck);
  feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, quick);
  await rest();
  stuck.accepts = false;
  // Thirty states of over 100 kB each: more than is kept for who is behind.
  for (let i = 0; i < 30; i += 1) await write(store, completed('a', 'x'.repeat(100_000)));
  await rest();
  expect(seqs(quick)).toEqual(Array.from({ length: 31 }, (_, seq) => seq));
  expect(seqs(stuck)).toEqual([0, 1]);
  stuck.accepts = true;
  subscription.resume();
  expect(seqs(stuck)).toEqual([0, 1, 30]);
  await write(store, completed('b'), row('run.completed'));
  expect(seqs(stuck)).toEqual([0, 1, 30, 31, 32]);
  expect(stuck.ended).toBe(1);
});

test('one that stalls a little misses nothing', async () => {
  const store = await started();
  const sink = seen();
  const subscription = feedOf(store).subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  sink.accepts = false;
  for (let i = 0; i < 5; i += 1) await write(store, completed('a'));
  sink.accepts = true;
  subscription.resume();
  expect(seqs(sink)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('one that stalls in the history reads on where it was', async () => {
  const store = await started();
  for (let i = 0; i < 400; i += 1) await write(store, completed('a'));
  const sink = seen();
  sink.accepts = false;
  const subscription = feedOf(store).subscribe({ runId: runA, fresh: false, form: 'frames' }, sink);
  await rest();
  const before = seqs(sink).length;
  expect(before).toBeLessThan(150);
  sink.accepts = true;
  subscription.resume();
  await rest();
  expect(seqs(sink)).toEqual(Array.from({ length: 401 }, (_, seq) => seq));
});

test('lets go of the log with the last reader, also of one that left while the state was loaded', async () => {
  const store = await started();
  let followers = 0;
  const follow: Store['log']['follow'] = (listener) => {
    followers += 1;
    const stop = store.log.follow(listener);
    return () => {
      followers -= 1;
      stop();
    };
  };
  const feed = feedOf({ ...store, log: { ...store.log, follow } });
  const sinks = [seen(), seen()];
  const subscriptions = sinks.map((sink, i) => feed.subscribe({ runId: runA, fresh: i === 0, form: 'frames' }, sink));
  for (const subscription of [...subscriptions, ...subscriptions]) subscription.close();
  await rest();
  expect(followers).toBe(0);
  expect(sinks.map(({ chunks, ended }) => [chunks, ended])).toEqual([
    [[], 0],
    [[], 0],
  ]);
});

test('hands a log that cannot be read to the sink as a fault', async () => {
  const store = await started();
  const broken = new Error('unreadable');
  const log = { ...store.log, read: () => Promise.reject(broken) };
  const feed = feedOf({ ...store, log });
  const sink = seen();
  feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  expect([sink.ended, sink.fault]).toEqual([1, broken]);
});

const large = (i: number) => completed(`n${i}`, 'x'.repeat(50_000));
const sizeOf = (sink: Seen) => sink.chunks.join('').length;

test('a large state is not sent after each transition: who begins gets the small ones, then the newest', async () => {
  const store = await started();
  for (let i = 0; i < 60; i += 1) await write(store, large(i));
  await write(store, row('run.completed'));
  const sink = seen();
  feedOf(store).subscribe({ runId: runA, fresh: false, form: 'frames' }, sink);
  await rest();
  expect(seqs(sink)).toEqual([0, 1, 2, 61]);
  expect([sink.ended, Object.keys(sink.states().at(-1)?.state.nodeStates as JsonObject).length]).toEqual([1, 60]);
  expect(sizeOf(sink)).toBeLessThan(1.1 * 60 * 50_000);
});

test('a large state that goes on is shown from time to time, to all at once, and its end without delay', async () => {
  const store = await started();
  for (let i = 0; i < 20; i += 1) await write(store, large(i));
  const timers = new ManualTimers();
  const clock = { at: 0 };
  const feed = feedOf(store, timers, () => clock.at);
  const sinks = [seen(), seen()];
  for (const sink of sinks) feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  for (let i = 20; i < 30; i += 1) await write(store, large(i));
  await rest();
  expect(sinks.map(seqs)).toEqual([[20], [20]]);
  // A state of 1 MB waits a second for the next.
  const [wait] = timers.delays;
  expect(Math.round((wait ?? 0) / 100)).toBe(10);
  clock.at += wait ?? 0;
  timers.pass(wait ?? 0);
  await rest();
  expect(sinks.map(seqs)).toEqual([
    [20, 30],
    [20, 30],
  ]);
  await write(store, large(30), row('run.completed'));
  await rest();
  expect(sinks.map((sink) => [seqs(sink), sink.ended])).toEqual(sinks.map(() => [[20, 30, 32], 1]));
});

test('many readers are written to in turns, and a large state waits for all of them', async () => {
  const store = await started();
  for (let i = 0; i < 40; i += 1) await write(store, large(i));
  const waiting: (() => void)[] = [];
  const feed = feedOf(store, undefined, undefined, (_, work) => void waiting.push(work));
  const sinks = [seen(), seen(), seen()];
  const turn = async (): Promise<void> => {
    for (const work of waiting.splice(0)) work();
    await rest();
  };
  for (const sink of sinks) feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  // They begin, find the large state wanted, and wait for it.
  await turn();
  await turn();
  expect(waiting).toHaveLength(3);
  for (const [at, work] of waiting.splice(0).entries()) {
    expect(sinks.map(seqs)).toEqual(sinks.map((_, one) => (one < at ? [40] : [])));
    work();
  }
  expect(sinks.map(seqs)).toEqual([[40], [40], [40]]);
});

test('one that stalls while a large run ends still gets the end when it reads again', async () => {
  const store = await started();
  for (let i = 0; i < 40; i += 1) await write(store, large(i));
  const timers = new ManualTimers();
  const feed = feedOf(store, timers);
  const sink = seen();
  sink.accepts = false;
  const subscription = feed.subscribe({ runId: runA, fresh: true, form: 'frames' }, sink);
  await rest();
  await write(store, row('run.completed'));
  await rest();
  expect(seqs(sink)).toEqual([40]);
  sink.accepts = true;
  subscription.resume();
  await rest();
  expect([seqs(sink), sink.ended]).toEqual([[40, 41], 1]);
});
