/** A feed that has no time to write each event by itself writes them together, and what is waited for at once. */
import type { ContextId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { creation, row, runA, runB, started } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { LiveFeed } from './feed.ts';
import { collector, settled } from './feed-sink.kit.ts';

const fact = (store: Store, runId = runA, type = 'x') => store.log.append({ runId, rows: [row(type)] });

describe('a feed without time to write each event by itself', () => {
  /** A pace that is told whether there is time, and when time passes. */
  function manual() {
    const waiting: (() => void)[] = [];
    const pace = {
      ms: 20,
      holdMs: () => pace.ms,
      after: (_ms: number, wake: () => void) => void waiting.push(wake),
      waiting,
      pass: () => {
        for (const wake of waiting.splice(0)) wake();
      },
    };
    return pace;
  }

  /** Two runs that somebody follows, each in a context of its own. */
  async function followed() {
    const store = inMemoryStore();
    const pace = manual();
    const feed = new LiveFeed(store, { pace });
    const create = { tenant: 't', contextId: 'ctx_other' as ContextId, originRunId: runB };
    await store.log.append(creation(runA));
    await store.log.append(creation(runB, { create }));
    const [a, b] = [collector(), collector()];
    feed.subscribe({ runId: runA, after: 0 }, a);
    feed.subscribe({ runId: runB, after: 0 }, b);
    await settled();
    pace.pass();
    return { store, pace, feed, a, b };
  }

  it('writes what several commits brought once, when the time has passed', async () => {
    const { store, pace, a, b } = await followed();
    await fact(store);
    await fact(store, runB);
    await fact(store);
    await settled();
    expect([a.chunks, b.chunks]).toEqual([[], []]);
    expect(pace.waiting).toHaveLength(1);
    pace.pass();
    expect([a.chunks.length, b.chunks.length]).toEqual([1, 1]);
    expect([a.positions(), b.positions()]).toEqual([[1, 2], [1]]);
  });

  it.each(['run.completed', 'node.suspended'])('writes %s at once, after all that waits in its run', async (type) => {
    const { store, pace, a, b } = await followed();
    await fact(store);
    await fact(store, runB);
    await fact(store, runA, type);
    await settled();
    expect([a.positions(), b.positions()]).toEqual([[1, 2], []]);
    pace.pass();
    expect([a.positions(), b.positions()]).toEqual([[1, 2], [1]]);
  });

  it('writes at once again when there is time, with what waited first', async () => {
    const { store, pace, a } = await followed();
    await fact(store);
    pace.ms = 0;
    await fact(store);
    await settled();
    expect(a.positions()).toEqual([1, 2]);
    pace.pass();
    expect(a.positions()).toEqual([1, 2]);
  });

  it('writes at once when there is much to write', async () => {
    const { store, a } = await followed();
    await fact(store);
    await store.log.append({ runId: runA, rows: [row('x', { payload: JSON.stringify('x'.repeat(40_000)) })] });
    await settled();
    expect(a.positions()).toEqual([1, 2]);
  });

  it('lets who follows a young run wait for its first events as for any other', async () => {
    const store = inMemoryStore();
    const pace = manual();
    const reads: unknown[] = [];
    const read: Store['log']['read'] = (range) => {
      reads.push(range);
      return store.log.read(range);
    };
    const feed = new LiveFeed({ ...store, log: { ...store.log, read } }, { pace });
    await store.log.append(creation(runA));
    const sink = collector();
    feed.subscribe({ runId: runA, after: -1 }, sink);
    await settled();
    expect(sink.chunks).toEqual([]);
    await fact(store, runA, 'run.completed');
    await settled();
    expect(sink.positions()).toEqual([0, 1]);
    expect([sink.chunks.length, sink.ended, reads.length]).toEqual([1, 1, 0]);
  });

  it('gives who comes to a run that ended or waits what there is at once', async () => {
    const store = inMemoryStore();
    const feed = new LiveFeed(store, { pace: manual() });
    await store.log.append(creation(runA, { rows: [started(), row('node.suspended')] }));
    const waits = collector();
    feed.subscribe({ runId: runA, after: -1 }, waits);
    await settled();
    expect(waits.positions()).toEqual([0, 1]);
    await fact(store, runA, 'run.completed');
    const late = collector();
    feed.subscribe({ runId: runA, after: -1 }, late);
    await settled();
    expect(late.positions()).toEqual([0, 1, 2]);
    expect(late.ended).toBe(1);
  });
});
