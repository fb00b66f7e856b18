/** Many subscribers of one context: they are written to in turns, and share what was read and rendered. */
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { context as contextId, creation, row, runA } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { type FeedOptions, LiveFeed } from './feed.ts';
import { type Collector, collector, settled } from './feed-sink.kit.ts';
import { everything, type Lens } from './lens.ts';

/** Turns that come when the test says so. */
function manualTurns() {
  const waiting: (() => void)[] = [];
  return {
    waiting,
    owners: new Set<string>(),
    isOpen: true,
    inTurn(owner: string, work: () => void) {
      this.owners.add(owner);
      if (this.isOpen) work();
      else waiting.push(work);
    },
    next: (count: number) => {
      for (const work of waiting.splice(0, count)) work();
    },
  };
}

const facts = (store: Store, count: number) =>
  store.log.append({ runId: runA, rows: Array.from({ length: count }, () => row('x')) });

async function followed(count: number, options: FeedOptions = {}, lens?: (index: number) => Lens) {
  const store = inMemoryStore();
  const turns = manualTurns();
  const feed = new LiveFeed(store, { ...options, inTurn: (owner, work) => turns.inTurn(owner, work) });
  await store.log.append(creation(runA));
  const sinks = Array.from({ length: count }, collector);
  const subscriptions = sinks.map((sink, index) =>
    feed.subscribe({ runId: runA, after: 0, ...(lens !== undefined && { lens: lens(index) }) }, sink),
  );
  await settled();
  return { store, turns, feed, sinks, subscriptions };
}

const got = (sinks: readonly Collector[]) => sinks.map((sink) => sink.positions());

describe('a turn of the event loop that has done much', () => {
  it('leaves the other subscribers to the next ones, and gives each what there is by then in one write', async () => {
    const { store, turns, sinks } = await followed(3);
    turns.isOpen = false;
    await facts(store, 1);
    await settled();
    expect(got(sinks)).toEqual([[], [], []]);
    turns.next(1);
    expect(got(sinks)).toEqual([[1], [], []]);
    await facts(store, 2);
    await settled();
    turns.next(3);
    expect(got(sinks)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(sinks.map(({ chunks }) => chunks.length)).toEqual([2, 1, 1]);
    expect([...turns.owners]).toEqual(['t']);
  });

  it('keeps what those need who wait, and drops it once all have it', async () => {
    const { store, turns, feed, sinks } = await followed(2);
    turns.isOpen = false;
    await facts(store, 4);
    await settled();
    turns.next(1);
    expect(feed.keptSize).toBeGreaterThan(0);
    turns.next(1);
    expect([feed.keptSize, got(sinks)]).toEqual([
      0,
      [
        [1, 2, 3, 4],
        [1, 2, 3, 4],
      ],
    ]);
  });

  it('also lets a client wait that has read what it was sent', async () => {
    const { store, turns, sinks, subscriptions } = await followed(1);
    for (const sink of sinks) sink.accepts = false;
    await facts(store, 1);
    await settled();
    await facts(store, 1);
    await settled();
    turns.isOpen = false;
    for (const subscription of subscriptions) subscription.resume();
    expect(got(sinks)).toEqual([[1]]);
    turns.next(1);
    expect(got(sinks)).toEqual([[1, 2]]);
  });
});

describe('subscribers of one context', () => {
  it('read each page of the log once, however many are behind', async () => {
    const store = inMemoryStore();
    await store.log.append(creation(runA));
    await facts(store, 200);
    const page = { events: 50, size: 100_000 };
    let reads = 0;
    const read: Store['log']['read'] = async (range) => {
      const rows = await store.log.read(range);
      if (rows.length === page.events) reads += 1;
      return rows;
    };
    const feed = new LiveFeed({ ...store, log: { ...store.log, read } }, { page });
    const sinks = Array.from({ length: 30 }, collector);
    for (const sink of sinks) feed.subscribe({ contextId, afterCursor: 0, lens: inContext }, sink);
    for (let i = 0; i < 10; i += 1) await settled();
    for (const sink of sinks) expect(sink.positions()).toEqual(Array.from({ length: 201 }, (_, i) => i + 1));
    // The first one reads a page before it knows that others follow.
    expect(reads).toBeLessThanOrEqual(5);
  });

  it('share the text of a row although each filters differently', async () => {
    let renders = 0;
    const render: Lens['render'] = (shown, name, timestamp) => {
      renders += 1;
      return everything.render(shown, name, timestamp);
    };
    const { store, sinks } = await followed(20, {}, (index) => ({ ...everything, key: `filter ${index}`, render }));
    await facts(store, 5);
    await settled();
    expect(got(sinks)).toEqual(sinks.map(() => [1, 2, 3, 4, 5]));
    expect(renders).toBe(5);
  });

  it('have views of their own when a lens keeps a state', async () => {
    const { store, sinks } = await followed(3, {}, (index) => ({ ...everything, key: null, render: counting(index) }));
    await facts(store, 2);
    await settled();
    expect(sinks.map(({ chunks }) => chunks.join(''))).toEqual(['0:1 0:2 ', '1:1 1:2 ', '2:1 2:2 ']);
  });
});

const inContext: Lens = { ...everything, key: 'cursors', render: ({ cursor }) => `id: ${cursor}\n\n` };

function counting(index: number): Lens['render'] {
  let count = 0;
  return () => {
    count += 1;
    return `${index}:${count} `;
  };
}
