/** Whatever a source holds in memory and whenever its sink is full, a subscriber writes all of it once, in order, then ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collector, settled } from './feed-sink.kit.ts';
import type { Chunk } from './sink.ts';
import { type Source, Subscriber } from './subscriber.ts';

const numbersOf = (text: string): readonly number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));

/** Numbers from 1 on. Memory holds the newest few; pages of the rest take a while. */
class Numbers implements Source {
  /** Calls that a subscriber must not make. */
  readonly breaches: string[] = [];
  /** Numbers that pages passed over. */
  readonly hidden = new Set<number>();
  readonly #page: number;
  readonly #last: number;
  #isReading = false;
  #after = 0;
  /** Numbers after this one are in memory. */
  floor = 0;
  newest = 0;
  fault: Error | null = null;

  constructor(page: number, last: number) {
    this.#page = page;
    this.#last = last;
  }

  get isBehind(): boolean {
    return this.#after < this.floor;
  }

  /** Adds numbers, and keeps so many of the newest in memory. */
  add(count: number, kept: number): void {
    this.newest = Math.min(this.newest + count, this.#last);
    this.floor = Math.max(this.floor, this.newest - kept);
  }

  next(): Chunk | null {
    if (this.isBehind || this.#isReading) this.breaches.push('next');
    return this.#after === this.newest ? null : this.#upTo(this.#after + 1);
  }

  async page(): Promise<Chunk | null> {
    if (!this.isBehind || this.#isReading) this.breaches.push('page');
    this.#isReading = true;
    const to = Math.min(this.#after + this.#page, this.newest);
    for (let turn = 0; turn < 3; turn += 1) await null;
    this.#isReading = false;
    if (this.fault !== null) throw this.fault;
    const chunk = this.#upTo(to);
    if (to % 3 !== 0 || chunk.isLast) return chunk;
    for (const number of numbersOf(chunk.text)) this.hidden.add(number);
    return null;
  }

  #upTo(to: number): Chunk {
    const numbers = Array.from({ length: to - this.#after }, (_, i) => this.#after + 1 + i);
    this.#after = to;
    const text = numbers.map((number) => `id: ${number}\n`).join('');
    return { text, upTo: to, urgent: false, isLast: to === this.#last };
  }
}

const turns = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), count: fc.nat(9), kept: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stall' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), microtasks: fc.nat(5) }) },
);
type Turn = typeof turns extends fc.Arbitrary<infer T> ? T : never;

const schedule = fc.record({ page: fc.integer({ min: 1, max: 5 }), steps: fc.array(turns, { maxLength: 40 }) });

const LAST = 60;

/** A subscriber over numbers, with everything that happens in between. */
async function played({ page, steps }: { page: number; steps: readonly Turn[] }) {
  const sink = collector();
  const source = new Numbers(page, LAST);
  const subscriber = new Subscriber(sink);
  subscriber.begin(source);
  for (const step of steps) {
    if (step.do === 'add') {
      source.add(step.count, step.kept);
      subscriber.pump();
    } else if (step.do === 'wait') for (let i = 0; i < step.microtasks; i += 1) await null;
    else {
      sink.accepts = step.do === 'resume';
      if (sink.accepts) subscriber.resume();
    }
  }
  return { sink, source, subscriber };
}

describe('a subscriber', () => {
  it('writes all that its source shows, in order, reads one page at a time, and ends once', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (plan) => {
        const { sink, source, subscriber } = await played(plan);
        source.add(LAST, LAST);
        sink.accepts = true;
        subscriber.resume();
        for (let i = 0; i < 5; i += 1) await settled();
        expect(source.breaches).toEqual([]);
        const all = Array.from({ length: LAST }, (_, i) => i + 1);
        expect(sink.positions()).toEqual(all.filter((number) => !source.hidden.has(number)));
        expect([sink.ended, sink.fault]).toEqual([1, undefined]);
        subscriber.resume();
        subscriber.close();
        expect(sink.ended).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  it('is silent once it is closed, also in the middle of a page', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, fc.nat(4), async (plan, microtasks) => {
        const { sink, source, subscriber } = await played(plan);
        source.add(20, 3);
        subscriber.pump();
        for (let i = 0; i < microtasks; i += 1) await null;
        subscriber.close();
        const before = [sink.chunks.length, sink.ended];
        source.add(LAST, 3);
        subscriber.resume();
        await settled();
        expect([sink.chunks.length, sink.ended]).toEqual(before);
      }),
    );
  });

  it('ends once with the fault of a page', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (plan) => {
        const { sink, source, subscriber } = await played(plan);
        const fault = new Error('unreadable');
        source.fault = fault;
        const wasOver = sink.ended === 1;
        source.add(20, 0);
        sink.accepts = true;
        subscriber.resume();
        await settled();
        if (!wasOver) expect([sink.ended, sink.fault]).toEqual([1, fault]);
      }),
    );
  });
});
