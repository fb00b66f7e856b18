/** All rings together keep a bounded number of characters, and no subscriber loses or repeats an event by it. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { creation, row } from '../ports/samples.kit.ts';
import { LiveFeed } from './feed.ts';
import { collector, settled } from './feed-sink.kit.ts';

const large = row('x', { payload: JSON.stringify('x'.repeat(10_000)) });

test('stalled readers of many contexts keep no more than the total, and get everything once when they read', async () => {
  const store = inMemoryStore();
  let reads = 0;
  const read: typeof store.log.read = (range) => {
    reads += 1;
    return store.log.read(range);
  };
  const feed = new LiveFeed({ ...store, log: { ...store.log, read } }, { total: 100_000 });
  const runs = Array.from({ length: 10 }, (_, i) => `run_${i}` as RunId);
  const readers = [];
  for (const runId of runs) {
    await store.log.append(
      creation(runId, { create: { tenant: 't', contextId: `ctx_${runId}` as ContextId, originRunId: runId } }),
    );
    const sink = collector();
    sink.accepts = false;
    readers.push({ sink, subscription: feed.subscribe({ runId, after: -1 }, sink) });
  }
  await settled();
  for (let i = 0; i < 20; i += 1) for (const runId of runs) await store.log.append({ runId, rows: [large] });
  await settled();
  expect(feed.keptSize).toBeLessThanOrEqual(100_000);
  expect(feed.keptSize).toBeGreaterThan(0);
  for (const { sink, subscription } of readers) {
    sink.accepts = true;
    subscription.resume();
  }
  for (let turn = 0; turn < 20; turn += 1) await settled();
  for (const { sink } of readers) expect(sink.positions()).toEqual(Array.from({ length: 21 }, (_, seq) => seq));
  expect(reads).toBeGreaterThan(0);
  for (const { subscription } of readers) subscription.close();
  expect(feed.keptSize).toBe(0);
});
