/** Whatever is appended, stalled and resumed in whatever order, every subscriber gets exactly what its lens shows of the sequence. */
import type { RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { context as contextId, creation, row, runA, runB } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { type FeedRange, LiveFeed } from './feed.ts';
import { type Collector, collector, settled } from './feed-sink.kit.ts';
import { everything, type Lens, payloads } from './lens.ts';
import type { Pace } from './pace.ts';
import type { Subscription } from './sink.ts';

const turns = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('append' as const), run: fc.nat(1), rows: fc.integer({ min: 1, max: 7 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      run: fc.nat(1),
      after: fc.integer({ min: -1, max: 12 }),
      client: fc.boolean(),
      odd: fc.boolean(),
      context: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stall' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('let time pass' as const), microtasks: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('be busy' as const), isBusy: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('write what was held' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end the turn' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin a turn' as const), room: fc.nat(4) }) },
);

const limits = fc.record({
  ring: fc.record({ events: fc.integer({ min: 1, max: 6 }), size: fc.integer({ min: 1, max: 40 }) }),
  page: fc.record({ events: fc.integer({ min: 1, max: 4 }), size: fc.integer({ min: 1, max: 60 }) }),
});

/** Shows every other type, as a mode of a stream does; the end of a run is hidden too. */
const oddOnly = (type: string): string | null => (type === 'odd' ? type : null);
const odd: Lens = payloads('odd', oddOnly, 'frames');

/** The same over a context, whose positions are cursors. */
const inContext = (lens: Lens): Lens => ({
  ...lens,
  key: `${lens.key} in context`,
  render: ({ cursor }) => `id: ${cursor}\n\n`,
});

const runOf = (which: number): RunId => (which === 0 ? runA : runB);

interface Wish {
  readonly run: number;
  readonly after: number;
  readonly client: boolean;
  readonly odd: boolean;
  readonly context: boolean;
}

function rangeOf({ run, after, client, odd: isOdd, context: isContext }: Wish): FeedRange {
  const audience = client ? 'client' : undefined;
  if (isContext) {
    const lens = inContext(isOdd ? odd : everything);
    return { contextId, afterCursor: Math.max(after, 0), audience, lens };
  }
  return { runId: runOf(run), after, audience, ...(isOdd && { lens: odd }) };
}

interface Follower {
  readonly range: FeedRange;
  readonly sink: Collector;
  readonly subscription: Subscription;
}

/** Reads yield a few times, as a store does that is somewhere else. */
function distant(store: Store): Store {
  const read: Store['log']['read'] = async (range) => {
    const rows = await store.log.read(range);
    for (let turn = 0; turn < 3; turn += 1) await null;
    return rows;
  };
  return { ...store, log: { ...store.log, read } };
}

const expected = async (store: Store, { lens, ...range }: FeedRange): Promise<readonly number[]> => {
  const rows = await store.log.read({ ...range, limit: 10_000 });
  return rows
    .filter((found) => lens === undefined || lens.nameOf(found.type, found) !== null)
    .map(({ seq, cursor }) => ('runId' in range ? seq : cursor));
};

describe('the live feed', () => {
  it('gives every subscriber each event after its place once and in order, then ends', async () => {
    const schedule = fc.tuple(limits, fc.array(turns, { maxLength: 60 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(schedule, async ([sizes, steps, isYoung]) => {
        const store = inMemoryStore();
        const runs = [runA, runB];
        // A feed that was there before the runs may have their first rows in memory.
        let isBusy = false;
        const held: (() => void)[] = [];
        const pace: Pace = { holdMs: () => (isBusy ? 20 : 0), after: (_ms, wake) => void held.push(wake) };
        // A turn may be over: then the write waits.
        const waiting: (() => void)[] = [];
        let isSpent = false;
        const inTurn = (_owner: string, work: () => void) => (isSpent ? void waiting.push(work) : work());
        const options = { ...sizes, pace, inTurn };
        const early = isYoung ? new LiveFeed(distant(store), options) : null;
        for (const runId of runs) await store.log.append(creation(runId));
        const feed = early ?? new LiveFeed(distant(store), options);
        const subscribers: Follower[] = [];
        const subscribe = (range: FeedRange): void => {
          const sink = collector();
          subscribers.push({ range, sink, subscription: feed.subscribe(range, sink) });
        };
        if (!isYoung) subscribe({ runId: runA, after: -1 });
        for (const step of steps) {
          if (step.do === 'append') {
            const rows = Array.from({ length: step.rows }, (_, i) =>
              row(i % 2 === 1 ? 'odd' : 'even', { audience: i % 3 === 1 ? 'operator' : 'client' }),
            );
            void store.log.append({ runId: runOf(step.run), rows });
          } else if (step.do === 'subscribe') {
            if (subscribers.length < 6) subscribe(rangeOf(step));
          } else if (step.do === 'let time pass') {
            for (let i = 0; i < step.microtasks; i += 1) await null;
          } else if (step.do === 'be busy') {
            isBusy = step.isBusy;
          } else if (step.do === 'end the turn') {
            isSpent = true;
          } else if (step.do === 'begin a turn') {
            isSpent = false;
            for (const work of waiting.splice(0, step.room)) work();
          } else if (step.do === 'write what was held') {
            for (const wake of held.splice(0)) wake();
          } else if (step.do === 'leave') {
            subscribers.splice(step.who, 1)[0]?.subscription.close();
          } else {
            const chosen = subscribers[step.who % subscribers.length];
            if (chosen === undefined) continue;
            chosen.sink.accepts = step.do === 'resume';
            if (step.do === 'resume') chosen.subscription.resume();
          }
        }
        for (const runId of runs) await store.log.append({ runId, rows: [row('run.completed')] });
        for (const { sink, subscription } of subscribers) {
          sink.accepts = true;
          subscription.resume();
        }
        isSpent = false;
        for (let i = 0; i < 20; i += 1) {
          for (const work of waiting.splice(0)) work();
          await settled();
        }
        for (const { range, sink } of subscribers) {
          expect(sink.positions()).toEqual(await expected(store, range));
          // A context goes on after its runs.
          expect(sink.ended).toBe('runId' in range ? 1 : 0);
          expect(sink.fault).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});
