/** A client that follows a young run is given its first events from memory, and from the log when memory lacks one. */
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import type { Interest } from '../ports/event-log.ts';
import { context, creation, row, runA, runB } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { countReads } from './counted-store.kit.ts';
import { LiveFeed } from './feed.ts';
import { collector, settled } from './feed-sink.kit.ts';

const fact = (store: Store, runId = runA, type = 'x') => store.log.append({ runId, rows: [row(type)] });

describe('a young run', () => {
  it('is followed from its first event without a read of the log', async () => {
    const store = inMemoryStore();
    const { reads, counted } = countReads(store);
    const feed = new LiveFeed(counted);
    await store.log.append(creation(runA));
    await fact(store);
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    await fact(store);
    await settled();
    expect(sink.positions()).toEqual([0, 1, 2]);
    expect(reads).toEqual([]);
  });

  it('is followed from its first event, with all runs of the context that it began, without a read of the log', async () => {
    const store = inMemoryStore();
    const { reads, counted } = countReads(store);
    const feed = new LiveFeed({
      ...counted,
      contexts: { ...store.contexts, tenant: () => Promise.reject(new Error('Nothing is read.')) },
    });
    await store.log.append(creation(runA));
    await fact(store);
    const sink = collector();
    feed.subscribe({ contextId: context, afterCursor: 0, begunBy: { runId: runA, tenant: 't' } }, sink);
    await settled();
    await store.log.append(creation(runB));
    await settled();
    expect(sink.positions()).toEqual([0, 1, 0]);
    expect(reads).toEqual([]);
  });

  it('is followed from what was read of it for the same request, without another read', async () => {
    const store = inMemoryStore();
    const { reads, counted } = countReads(store);
    const head = () => Promise.reject(new Error('Nothing is read.'));
    const feed = new LiveFeed({ ...counted, log: { ...counted.log, head } });
    await store.log.append(creation(runA));
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1, record: { contextId: context, tenant: 't', endedAt: null } }, sink);
    await settled();
    expect(sink.positions()).toEqual([0]);
    expect(reads).toEqual([]);
  });

  it('is waited for, so that commits of other nodes do not leave gaps in it, until its first events are taken', async () => {
    const store = inMemoryStore();
    const interests: (Interest | undefined)[] = [];
    const follow: Store['log']['follow'] = (listener, interest) => {
      interests.push(interest);
      return store.log.follow(listener, interest);
    };
    const feed = new LiveFeed({ ...store, log: { ...store.log, follow } });
    const isWaitedFor = () => interests[0]?.waits?.({ runId: runA, contextId: context });
    expect(isWaitedFor()).toBe(false);
    await store.log.append(creation(runA));
    expect(isWaitedFor()).toBe(true);
    const passing = feed.subscribe({ runId: runA, after: -1 }, collector());
    await settled();
    expect(isWaitedFor()).toBe(true);
    passing.close();
    expect(isWaitedFor()).toBe(false);
  });

  it('is read from the log when another run of its context was followed meanwhile', async () => {
    const store = inMemoryStore();
    const { reads, counted } = countReads(store);
    const feed = new LiveFeed(counted);
    await store.log.append(creation(runA));
    await store.log.append(creation(runB));
    const passing = feed.subscribe({ runId: runB, after: -1 }, collector());
    await settled();
    await fact(store);
    passing.close();
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
    expect(reads.at(-1)?.runId).toBe(runA);
  });

  it('is read from the log by who comes after all others have left', async () => {
    const store = inMemoryStore();
    const feed = new LiveFeed(store);
    await store.log.append(creation(runA));
    const passing = feed.subscribe({ runId: runA, after: -1 }, collector());
    await settled();
    await fact(store);
    passing.close();
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
  });

  it('is read from the log once it has many rows, or large ones', async () => {
    for (const rows of [
      Array.from({ length: 60 }, () => row('x')),
      [row('x', { payload: `"${'x'.repeat(40_000)}"` })],
    ]) {
      const store = inMemoryStore();
      const { reads, counted } = countReads(store);
      const feed = new LiveFeed(counted);
      await store.log.append(creation(runA));
      await store.log.append({ runId: runA, rows });
      const sink = collector();
      feed.subscribe({ runId: runA, after: -1 }, sink);
      await settled();
      expect(sink.positions()).toHaveLength(rows.length + 1);
      expect(reads.length).toBeGreaterThan(0);
    }
  });

  it('is forgotten when many younger ones have begun', async () => {
    const store = inMemoryStore();
    const { reads, counted } = countReads(store);
    const feed = new LiveFeed(counted);
    await store.log.append(creation(runA));
    for (let i = 0; i < 128; i += 1) {
      const runId = `run_young_${i}` as RunId;
      const create = { tenant: 't', contextId: `ctx_young_${i}` as ContextId, originRunId: runId };
      await store.log.append(creation(runId, { create }));
    }
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.positions()).toEqual([0]);
    expect(reads).toHaveLength(1);
  });
});
