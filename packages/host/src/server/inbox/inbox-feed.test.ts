import type { InboxChange, RunId } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { createLoadView } from '../../engine/loading/run-view.ts';
import type { InTurn } from '../../log/feed/feed.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { asked, creation, resolved, row, started } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { InboxFeed } from './inbox-feed.ts';

/** Places as they are. */
const cursors: PageCursors = {
  shown: (_tenant, place) => place,
  placeOf: (_tenant, cursor) => cursor,
};

function stage(capacity = 500, inTurn?: InTurn) {
  const store = inMemoryStore();
  const timers = new ManualTimers();
  return {
    store,
    timers,
    feed: new InboxFeed({
      log: store.log,
      changes: store.changes,
      runIndex: store.runIndex,
      loadView: createLoadView(store),
      cursors,
      timers,
      capacity,
      ...(inTurn && { inTurn }),
    }),
  };
}

const ask = (store: Store, name: string, ...questions: readonly string[]) =>
  store.log.append(creation(name as RunId, { rows: [started(), ...questions.map((id) => asked(id))] }));

/** A question of 16,000 characters. */
const askMuch = (store: Store, name: string) => {
  const payload = { interruptId: 'a', kind: 'custom', nodeId: 'gate', data: { text: 'x'.repeat(16_000) } };
  const question = row('interrupt.requested', { nodeId: 'gate', payload: JSON.stringify(payload) });
  return store.log.append(creation(name as RunId, { rows: [started(), question] }));
};

const answer = (store: Store, name: string, question: string) =>
  store.log.append({ runId: name as RunId, rows: [resolved(question)] });

/** A follower that takes so many writes and then has enough. */
function follower(feed: InboxFeed, { lastId = null as string | null, takes = Number.POSITIVE_INFINITY } = {}) {
  const changes: InboxChange[] = [];
  const waiting = new Set<() => void>();
  let left = takes;
  let id: string | undefined;
  let fault: unknown = null;
  const parser = createParser({
    onEvent: (frame) => {
      id = frame.id ?? id;
      changes.push(JSON.parse(frame.data) as InboxChange);
    },
  });
  const subscription = feed.subscribe('t', lastId, {
    write({ text, rest = [] }) {
      for (const part of [text, ...rest]) parser.feed(part);
      for (const look of waiting) look();
      left -= 1;
      return left > 0;
    },
    end(error) {
      fault = error;
      for (const look of waiting) look();
    },
  });
  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => isSo() && resolve();
      waiting.add(look);
      look();
    });
  return {
    changes,
    said: (count: number) => until(() => changes.length >= count),
    failed: () => until(() => fault !== null).then(() => fault),
    id: () => id ?? '',
    more() {
      left = Number.POSITIVE_INFINITY;
      subscription.resume();
    },
    close: () => subscription.close(),
  };
}

const shown = (change: InboxChange | undefined) => {
  if (change?.type === 'snapshot') return change.entries.map(({ runId, interruptId }) => `${runId}/${interruptId}`);
  if (change?.type === 'removed') return `- ${change.runId}/${change.interruptId}`;
  return change === undefined ? null : `+ ${change.entry.runId}/${change.entry.interruptId}`;
};

test('who stalls is told later what it missed, and others are told at once', async () => {
  const { store, feed } = stage();
  const slow = follower(feed, { takes: 1 });
  const quick = follower(feed);
  await Promise.all([slow.said(1), quick.said(1)]);
  await ask(store, 'run_1', 'a');
  await quick.said(2);
  await answer(store, 'run_1', 'a');
  await quick.said(3);
  expect(slow.changes.map(shown)).toEqual([[]]);
  slow.more();
  expect(slow.changes.map(shown)).toEqual([[], '+ run_1/a', '- run_1/a']);
});

test('who was away for longer than changes are kept is told all there is', async () => {
  const { store, feed } = stage();
  const slow = follower(feed, { takes: 1 });
  const quick = follower(feed);
  await quick.said(1);
  await slow.said(1);
  for (let i = 0; i < 501; i++) {
    await ask(store, `run_${i}`, 'a');
    await quick.said(2 * i + 2);
    await answer(store, `run_${i}`, 'a');
    await quick.said(2 * i + 3);
  }
  await ask(store, 'run_last', 'a');
  await quick.said(2 * 501 + 2);
  slow.more();
  expect(slow.changes.slice(1).map(shown)).toEqual([['run_last/a']]);
});

test('changes are kept by their size: who missed a mebibyte of them is told all there is', async () => {
  const { store, feed } = stage();
  const slow = follower(feed, { takes: 1 });
  const quick = follower(feed);
  await Promise.all([slow.said(1), quick.said(1)]);
  for (let i = 0; i < 70; i++) {
    await askMuch(store, `run_${i}`);
    await quick.said(2 * i + 2);
    await answer(store, `run_${i}`, 'a');
    await quick.said(2 * i + 3);
  }
  await ask(store, 'run_last', 'a');
  await quick.said(2 * 70 + 2);
  slow.more();
  expect(slow.changes.slice(1).map(shown)).toEqual([['run_last/a']]);
});

test('many who follow are written to in turns, and a large inbox in parts', async () => {
  const waiting: (() => void)[] = [];
  const owners = new Set<string>();
  const { store, feed } = stage(500, (owner, work) => {
    owners.add(owner);
    waiting.push(work);
  });
  for (let i = 0; i < 20; i++) await askMuch(store, `run_${i}`);
  const texts: string[][] = [[], []];
  for (const parts of texts) {
    feed.subscribe('t', null, {
      write: ({ text, rest = [] }) => parts.push(text, ...rest) > 0,
      end: () => undefined,
    });
  }
  for (const work of waiting.splice(0)) work();
  await expect.poll(() => waiting.length).toBe(2);
  expect(texts).toEqual([[], []]);
  for (const work of waiting.splice(0)) work();
  expect(texts[0]?.length).toBeGreaterThan(2);
  expect(texts[1]).toEqual(texts[0]);
  expect(Math.max(...(texts[0] ?? []).map(({ length }) => length))).toBeLessThan(20_000);
  expect(owners).toEqual(new Set(['t']));
});

test('of more questions than are held the oldest are, it says so, and the rest move up when there is room', async () => {
  const { store, feed } = stage(4);
  for (let i = 0; i < 6; i++) await ask(store, `run_${i}`, 'a');
  const { changes, said } = follower(feed);
  await said(1);
  expect(changes[0]).toMatchObject({ type: 'snapshot', complete: false });
  expect(shown(changes[0])).toEqual(['run_0/a', 'run_1/a', 'run_2/a', 'run_3/a']);
  await answer(store, 'run_1', 'a');
  await said(2);
  await answer(store, 'run_0', 'a');
  await said(3);
  expect(changes.slice(1).map(shown)).toEqual(['- run_1/a', ['run_2/a', 'run_3/a', 'run_4/a', 'run_5/a']]);
  expect(changes[2]).toMatchObject({ complete: true });
});

test('a question for which there is no room is not told before there is', async () => {
  const { store, feed } = stage(2);
  for (const name of ['run_0', 'run_1']) await ask(store, name, 'a');
  const { changes, said } = follower(feed);
  await said(1);
  await ask(store, 'run_2', 'a');
  await answer(store, 'run_0', 'a');
  await said(2);
  expect(changes.map(shown)).toEqual([
    ['run_0/a', 'run_1/a'],
    ['run_1/a', 'run_2/a'],
  ]);
});

test('what a node or a run still asked goes with it, and what expires is told as such', async () => {
  const { store, feed } = stage();
  await ask(store, 'run_1', 'a', 'b');
  await ask(store, 'run_2', 'c');
  await ask(store, 'run_3', 'd');
  const { changes, said } = follower(feed);
  await said(1);
  await store.log.append({ runId: 'run_1' as RunId, rows: [row('node.cancelled', { nodeId: 'gate' })] });
  await said(3);
  await store.log.append({ runId: 'run_2' as RunId, rows: [row('run.failed')] });
  await said(4);
  const payload = JSON.stringify({ interruptId: 'd', reason: 'timeout' });
  await store.log.append({ runId: 'run_3' as RunId, rows: [row('interrupt.resolved', { nodeId: 'gate', payload })] });
  await said(5);
  const end = (change: InboxChange) => (change.type === 'removed' ? change.end : null);
  expect(changes.slice(1).map((change) => [shown(change), end(change)])).toEqual([
    ['- run_1/a', 'cancelled'],
    ['- run_1/b', 'cancelled'],
    ['- run_2/c', 'cancelled'],
    ['- run_3/d', 'expired'],
  ]);
});

test('an inbox that nobody follows is kept for a minute, and then forgotten', async () => {
  const { store, timers, feed } = stage();
  const first = follower(feed);
  await first.said(1);
  const id = first.id();
  first.close();
  await ask(store, 'run_1', 'a');
  const second = follower(feed, { lastId: id });
  await second.said(1);
  expect(second.changes.map(shown)).toEqual(['+ run_1/a']);
  second.close();
  timers.pass(60_000);
  const third = follower(feed, { lastId: id });
  await third.said(1);
  expect(third.changes.map(shown)).toEqual([['run_1/a']]);
  third.close();
  feed.close();
  expect(timers.waiting(60_000)).toBe(0);
});

test('a log that cannot be read ends those who follow with the fault, and the next one starts anew', async () => {
  const { store, feed } = stage();
  const { read } = store.changes;
  const first = follower(feed);
  await first.said(1);
  store.changes.read = () => Promise.reject(new Error('the disk is gone'));
  await ask(store, 'run_1', 'a');
  expect(await first.failed()).toMatchObject({ message: 'the disk is gone' });
  store.changes.read = read;
  const second = follower(feed);
  await second.said(1);
  expect(second.changes.map(shown)).toEqual([['run_1/a']]);
});

test('who comes during a reading is told nothing before what was asked until then is read', async () => {
  const { store, feed } = stage();
  const gate = Promise.withResolvers<void>();
  const { end } = store.changes;
  let readings = 0;
  store.changes.end = async () => {
    readings += 1;
    const position = await end();
    await gate.promise;
    return position;
  };
  const { pending } = store.runIndex;
  // What the first reading finds was read before the question was asked.
  store.runIndex.pending = async (query) => (readings === 1 ? { interrupts: [], nextCursor: null } : pending(query));
  const first = follower(feed);
  await ask(store, 'run_1', 'a');
  const second = follower(feed);
  gate.resolve();
  await Promise.all([first.said(2), second.said(1)]);
  expect(first.changes.map(shown)).toEqual([[], '+ run_1/a']);
  expect(second.changes.map(shown)).toEqual([['run_1/a']]);
});
