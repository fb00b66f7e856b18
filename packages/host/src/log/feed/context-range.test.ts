/** The range of a context holds the events of all its runs in the order of their commits, as any lens shows them. */
import type { ContextId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { context as contextId, creation, row, runA, runB } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { LiveFeed } from './feed.ts';
import { collector, settled } from './feed-sink.kit.ts';
import { everything, type Lens } from './lens.ts';

/** Task faces under the cursor of their context. */
const tasks: Lens = {
  ...everything,
  key: 'tasks',
  face: 'task',
  render: ({ cursor, task }, name) => `id: ${cursor}\nevent: ${name}\ndata: ${task}\n\n`,
};

const face = (kind: string) => row(kind, { task: JSON.stringify({ kind }) });

const cursors = async (store: Store, isShown: (task: string | null) => boolean) =>
  (await store.log.read({ contextId, afterCursor: 0, limit: 1_000 }))
    .filter(({ task }) => isShown(task))
    .map(({ cursor }) => cursor);

it('gives the task faces of every run, from the log and live, and goes on when a run ends', async () => {
  const store = inMemoryStore();
  await store.log.append(creation(runA, { rows: [face('a'), row('hidden')] }));
  await store.log.append(creation(runB));
  const sink = collector();
  new LiveFeed(store).subscribe({ contextId, afterCursor: 0, lens: tasks }, sink);
  await settled();
  await store.log.append({ runId: runB, rows: [face('b')] });
  await store.log.append({ runId: runA, rows: [row('hidden'), face('c'), row('run.completed')] });
  await store.log.append({ runId: runB, rows: [face('d')] });
  await settled();
  expect(sink.positions()).toEqual(await cursors(store, (task) => task !== null));
  expect(sink.chunks.join('').match(/"kind":"\w"/g)).toEqual(['a', 'b', 'c', 'd'].map((kind) => `"kind":"${kind}"`));
  expect(sink.ended).toBe(0);
});

it('shares the ring with the ranges of its runs, and each subscriber gets its own', async () => {
  const store = inMemoryStore();
  await store.log.append(creation(runA));
  await store.log.append(creation(runB));
  const feed = new LiveFeed(store);
  const [whole, one] = [collector(), collector()];
  feed.subscribe({ contextId, afterCursor: 2, lens: tasks }, whole);
  feed.subscribe({ runId: runB, after: 0 }, one);
  await settled();
  await store.log.append({ runId: runA, rows: [face('a')] });
  await store.log.append({ runId: runB, rows: [face('b'), row('run.completed')] });
  await settled();
  expect(whole.positions()).toEqual(await cursors(store, (task) => task !== null));
  expect([one.positions(), one.ended]).toEqual([[1, 2], 1]);
});

it('leaves no beginning of a run behind that lacks what came while it was followed', async () => {
  const store = inMemoryStore();
  const feed = new LiveFeed(store);
  await store.log.append(creation(runA));
  const passing = feed.subscribe({ contextId, afterCursor: 0 }, collector());
  await settled();
  await store.log.append({ runId: runA, rows: [row('x')] });
  await settled();
  passing.close();
  const sink = collector();
  feed.subscribe({ runId: runA, after: -1 }, sink);
  await settled();
  expect(sink.positions()).toEqual([0, 1]);
});

it('ends at once for a context that has no run', async () => {
  const sink = collector();
  new LiveFeed(inMemoryStore()).subscribe({ contextId: 'ctx_none' as ContextId, afterCursor: 0 }, sink);
  await settled();
  expect([sink.chunks, sink.ended]).toEqual([[], 1]);
});
