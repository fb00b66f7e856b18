/** Whatever is appended, stalled and resumed in whatever order, every subscriber gets exactly what its lens shows of the sequence. */
import type { RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { LiveFeed, type Pace, type Subscription } from './feed.ts';
import { type Collector, collector, settled } from './feed-sink.kit.ts';
import type { Lens } from './lens.ts';

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
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stall' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const), who: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('let time pass' as const), microtasks: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('be busy' as const), isBusy: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('write what was held' as const) }) },
);

const limits = fc.record({
  ring: fc.record({ events: fc.integer({ min: 1, max: 6 }), size: fc.integer({ min: 1, max: 40 }) }),
  page: fc.record({ events: fc.integer({ min: 1, max: 4 }), size: fc.integer({ min: 1, max: 60 }) }),
});

/** Hides every other type, as a mode of a stream does; the end of a run is hidden too. */
const odd: Lens = { key: 'odd', nameOf: (type) => (type === 'odd' ? type : null), form: 'frames' };

interface Subscriber {
  readonly lens: Lens | undefined;
  readonly runId: RunId;
  readonly after: number;
  readonly client: boolean;
  readonly sink: Collector;
  readonly subscription: Subscription;
}

/** Reads yield a few times, as a store does that is somewhere else. */
function distant(store: Store): Store['log'] {
  return {
    ...store.log,
    async read(range) {
      const rows = await store.log.read(range);
      for (let turn = 0; turn < 3; turn += 1) await null;
      return rows;
    },
  };
}

const expected = async (store: Store, { runId, after, client, lens }: Subscriber): Promise<readonly number[]> => {
  const rows = await store.log.read({ runId, after, limit: 10_000, audience: client ? 'client' : undefined });
  return rows.filter(({ type }) => lens === undefined || type === 'odd').map((stored) => stored.seq);
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
        const early = isYoung ? new LiveFeed(distant(store), { ...sizes, pace }) : null;
        for (const runId of runs) await store.log.append(creation(runId));
        const feed = early ?? new LiveFeed(distant(store), { ...sizes, pace });
        const subscribers: Subscriber[] = [];
        const subscribe = (runId: RunId, after: number, client: boolean, lens?: Lens): void => {
          const sink = collector();
          const range = { runId, after, audience: client ? ('client' as const) : undefined, ...(lens && { lens }) };
          subscribers.push({ runId, after, client, lens, sink, subscription: feed.subscribe(range, sink) });
        };
        if (!isYoung) subscribe(runA, -1, false);
        for (const step of steps) {
          if (step.do === 'append') {
            const rows = Array.from({ length: step.rows }, (_, i) =>
              row(i % 2 === 1 ? 'odd' : 'even', { audience: i % 3 === 1 ? 'operator' : 'client' }),
            );
            void store.log.append({ runId: runs[step.run]!, rows });
          } else if (step.do === 'subscribe') {
            if (subscribers.length < 6) subscribe(runs[step.run]!, step.after, step.client, step.odd ? odd : undefined);
          } else if (step.do === 'let time pass') {
            for (let i = 0; i < step.microtasks; i += 1) await null;
          } else if (step.do === 'be busy') {
            isBusy = step.isBusy;
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
        for (let i = 0; i < 20; i += 1) await settled();
        for (const subscriber of subscribers) {
          expect(subscriber.sink.seqs()).toEqual(await expected(store, subscriber));
          expect(subscriber.sink.ended).toBe(1);
          expect(subscriber.sink.fault).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});
