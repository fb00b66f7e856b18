/** The live feed joins log and ring without a gap, writes once a tick, waits for slow sinks and ends with the run. */
import type { RunId } from '@cairn/protocol';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { purge } from '../ports/purging.kit.ts';
import { context, creation, row, runA, runB, started } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { countReads } from './counted-store.kit.ts';
import { type FeedLimits, LiveFeed } from './feed.ts';
import { collector, settled } from './feed-sink.kit.ts';
import { type Form, type Lens, payloads } from './lens.ts';
import { Ring } from './ring.ts';

const tiny: Partial<FeedLimits> = { ring: { events: 4, size: 1_000_000 }, page: { events: 2, size: 1_000_000 } };

const fact = (store: Store, runId = runA, type = 'x') => store.log.append({ runId, rows: [row(type)] });

describe('the live feed', () => {
  it('goes on from the ring, without another read, with what came while it read the log', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const reads: number[] = [];
    const read: Store['log']['read'] = async (range) => {
      const rows = await store.log.read(range);
      reads.push(rows.length);
      if (reads.length === 1) await fact(store);
      await settled();
      return rows;
    };
    const sink = collector();
    new LiveFeed({ ...store, log: { ...store.log, read } }).subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    await settled();
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
    expect(reads).toEqual([1]);
  });

  it.each([
    ['a run', { runId: runA, after: -1 }, 1],
    ['a context', { contextId: context, afterCursor: 0 }, 0],
  ])('shows a slow reader of %s nothing of a run that was purged meanwhile', async (_, range, ends) => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store);
    const sink = collector();
    sink.accepts = false;
    const subscription = feed.subscribe(range, sink);
    await settled();
    await store.log.append({ runId: runA, rows: [row('secret'), row('run.completed')] });
    await settled();
    expect(feed.keptSize).toBeGreaterThan(0);
    await purge(store, runA);
    feed.forget(context);
    expect(feed.keptSize).toBe(0);
    sink.accepts = true;
    subscription.resume();
    await settled();
    expect(sink.chunks.join('')).not.toContain('secret');
    expect(sink.positions()).toHaveLength(1);
    expect([sink.ended, sink.fault]).toEqual([ends, undefined]);
  });

  it('keeps nothing of a young run that was purged before anybody followed it', async () => {
    const store = inMemoryStore();
    const feed = new LiveFeed(store);
    await store.log.append(creation(runA, { rows: [started(), row('run.completed')] }));
    await purge(store, runA);
    feed.forget(context);
    await store.log.append(creation(runA, { rows: [started()] }));
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.chunks.join('')).not.toContain('run.completed');
  });

  it('shows each of many readers at one place what its own lens shows, and builds that once for each lens', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store);
    const asked: string[] = [];
    const lens = (hidden: string, form: Form): Lens => {
      const nameOf = (type: string) => {
        asked.push(type);
        return type === hidden ? null : type;
      };
      return payloads(`${hidden} ${form}`, nameOf, form);
    };
    const follow = (shown: Lens) => {
      const sink = collector();
      feed.subscribe({ runId: runA, after: 0, lens: shown }, sink);
      return sink;
    };
    const [first, other, documents, second] = [
      follow(lens('a', 'frames')),
      follow(lens('b', 'frames')),
      follow(lens('a', 'documents')),
      follow(lens('a', 'frames')),
    ];
    await settled();
    asked.length = 0;
    await store.log.append({ runId: runA, rows: [row('a'), row('b'), row('b')] });
    await settled();
    expect([first.positions(), other.positions(), second.positions()]).toEqual([[2, 3], [1], [2, 3]]);
    expect(JSON.parse(`[${documents.chunks.join('')}]`)).toMatchObject([{ sequence: 2 }, { sequence: 3 }]);
    // Four readers, three lenses, three rows.
    expect(asked).toHaveLength(9);
  });

  it('gives subscribers of two runs of a context, at the same place in both, each its own', async () => {
    const store = inMemoryStore();
    for (const runId of [runA, runB]) await store.log.append(creation(runId));
    const feed = new LiveFeed(store);
    const [a, b] = [collector(), collector()];
    feed.subscribe({ runId: runA, after: 0 }, a);
    feed.subscribe({ runId: runB, after: 0 }, b);
    await settled();
    await store.log.append({ runId: runA, rows: [row('a')] });
    await store.log.append({ runId: runB, rows: [row('b'), row('b')] });
    await settled();
    expect([a.positions(), b.positions()]).toEqual([[1], [1, 2]]);
    expect(a.chunks.join('')).toContain('event: a\n');
  });

  it('keeps nothing that every subscriber has seen, and what a stalled one has not', async () => {
    const trimmed = vi.spyOn(Ring.prototype, 'trim');
    onTestFinished(() => trimmed.mockRestore());
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store);
    const [quick, slow] = [collector(), collector()];
    feed.subscribe({ runId: runA, after: -1 }, quick);
    await settled();
    await fact(store);
    await settled();
    const ring = trimmed.mock.contexts.at(-1) as Ring;
    expect(ring.end - ring.start).toBe(0);
    feed.subscribe({ runId: runA, after: -1 }, slow);
    await settled();
    slow.accepts = false;
    for (let i = 0; i < 3; i += 1) {
      await fact(store);
      await settled();
    }
    expect(ring.end - ring.start).toBe(2);
    expect(quick.positions()).toEqual([0, 1, 2, 3, 4]);
  });

  it('gives what happened, then what happens, then ends', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA, { rows: [started(), row('a')] }));
    const sink = collector();
    new LiveFeed(store).subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
    await fact(store);
    await settled();
    expect(sink.positions()).toEqual([0, 1, 2]);
    expect(sink.ended).toBe(0);
    await fact(store, runA, 'run.completed');
    await settled();
    expect(sink.positions()).toEqual([0, 1, 2, 3]);
    expect(sink.ended).toBe(1);
  });

  it('continues after the seq it is given', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA, { rows: [started(), row('a'), row('b')] }));
    const sink = collector();
    new LiveFeed(store).subscribe({ runId: runA, after: 1 }, sink);
    await settled();
    expect(sink.positions()).toEqual([2]);
  });

  it('leaves operator rows and other runs out', async () => {
    const store = inMemoryStore();
    const rows = [started(), row('a', { audience: 'operator' }), row('b')];
    await store.log.append(creation(runA, { rows }));
    const [client, operator] = [collector(), collector()];
    const feed = new LiveFeed(store);
    feed.subscribe({ runId: runA, after: -1, audience: 'client' }, client);
    feed.subscribe({ runId: runA, after: -1 }, operator);
    await settled();
    await store.log.append(creation(runB));
    await store.log.append({ runId: runA, rows: [row('c', { audience: 'operator' }), row('d')] });
    await settled();
    expect(client.positions()).toEqual([0, 2, 4]);
    expect(operator.positions()).toEqual([0, 1, 2, 3, 4]);
  });

  it('writes the events of one commit at once, as the same text for everyone at the same place', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store);
    const sinks = [collector(), collector()];
    for (const sink of sinks) feed.subscribe({ runId: runA, after: 0 }, sink);
    await settled();
    await store.log.append({ runId: runA, rows: [row('a'), row('b'), row('c')] });
    await settled();
    expect(sinks.map((sink) => sink.chunks.length)).toEqual([1, 1]);
    expect(sinks[0]?.chunks).toEqual(sinks[1]?.chunks);
  });

  it('ends at once for a run that is over and for one that nobody knows', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA, { rows: [started(), row('run.failed')] }));
    const feed = new LiveFeed(store);
    const [all, none, unknown] = [collector(), collector(), collector()];
    feed.subscribe({ runId: runA, after: -1 }, all);
    feed.subscribe({ runId: runA, after: 1 }, none);
    feed.subscribe({ runId: 'run_none' as RunId, after: -1 }, unknown);
    await settled();
    expect(all.positions()).toEqual([0, 1]);
    expect([all.ended, none.ended, unknown.ended]).toEqual([1, 1, 1]);
    expect(none.chunks).toEqual([]);
  });

  it('ends with the run also for who asked for places it never reached', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const sink = collector();
    new LiveFeed(store).subscribe({ runId: runA, after: 1_000 }, sink);
    await settled();
    await fact(store, runA, 'run.cancelled');
    await settled();
    expect([sink.positions(), sink.ended]).toEqual([[], 1]);
  });
});

describe('a slow subscriber', () => {
  it('gets nothing more until it resumes, then everything, from the ring while that reaches back', async () => {
    const store = inMemoryStore();
    const { counted, reads } = countReads(store);
    await store.log.append(creation(runA));
    const sink = collector();
    const subscription = new LiveFeed(counted, tiny).subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    sink.accepts = false;
    await fact(store);
    await settled();
    const pages = reads.length;
    await fact(store);
    await fact(store);
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
    sink.accepts = true;
    subscription.resume();
    await settled();
    expect(sink.positions()).toEqual([0, 1, 2, 3]);
    expect(reads.length).toBe(pages);
  });

  it('that fell off the ring reads the log at its own place and rejoins', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const sink = collector();
    const subscription = new LiveFeed(store, tiny).subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    sink.accepts = false;
    for (let i = 0; i < 20; i += 1) await fact(store);
    await settled();
    sink.accepts = true;
    subscription.resume();
    await settled();
    expect(sink.positions()).toEqual(Array.from({ length: 21 }, (_, i) => i));
    await fact(store, runA, 'run.completed');
    await settled();
    expect([sink.positions().at(-1), sink.ended]).toEqual([21, 1]);
  });

  it('does not keep others from hearing', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store, tiny);
    const [stuck, quick] = [collector(), collector()];
    stuck.accepts = false;
    for (const sink of [stuck, quick]) feed.subscribe({ runId: runA, after: -1 }, sink);
    for (let i = 0; i < 9; i += 1) await fact(store);
    await settled();
    expect(quick.positions().length).toBe(10);
    expect(stuck.chunks.length).toBe(1);
  });
});

describe('leaving', () => {
  it('writes nothing after a close', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const feed = new LiveFeed(store);
    const sink = collector();
    const subscription = feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    subscription.close();
    subscription.close();
    await fact(store);
    await settled();
    expect([sink.chunks.length, sink.ended]).toEqual([1, 0]);
  });

  it('before the run was found leaves nothing behind', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const sink = collector();
    new LiveFeed(store).subscribe({ runId: runA, after: -1 }, sink).close();
    await settled();
    expect([sink.chunks, sink.ended]).toEqual([[], 0]);
  });

  it('hands a log that cannot be read to the sink as a fault', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    const broken = new Error('unreadable');
    const log = { ...store.log, read: () => Promise.reject(broken) };
    const sink = collector();
    new LiveFeed({ ...store, log }).subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect([sink.ended, sink.fault]).toEqual([1, broken]);
  });
});
