/** The laws of the channel reducers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { heldSize } from '../json-size.ts';
import type { ChannelDeclaration } from '../runs/workflow-definition.ts';
import { channelValues, declareChannels, writeChannel } from './channels.ts';

interface TimedWrite {
  readonly value: Json;
  readonly at: number;
}

function reduce(declared: ChannelDeclaration, writes: readonly TimedWrite[]): Json | undefined {
  const channels = declareChannels({ c: declared }, 0);
  for (const { value, at } of writes) writeChannel(channels, { channel: 'c', reducer: declared.reducer, value }, at);
  return channelValues(channels).c;
}

const untimed = (values: readonly Json[]): TimedWrite[] => values.map((value) => ({ value, at: 0 }));
const message = fc.record({ messageId: fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), n: fc.nat() });

test('message: writing everything a second time changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(message),
      fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      (messages, maxSize) => {
        const declared: ChannelDeclaration = { reducer: 'message', ...(maxSize !== undefined && { maxSize }) };
        const once = reduce(declared, untimed(messages));
        expect(reduce(declared, untimed([...messages, ...messages]))).toEqual(once);
      },
    ),
  );
});

test('message: each id is there once, with what was written first, in order of arrival', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1 }), (messages) => {
      const firsts = messages.filter(
        (one, i) => messages.findIndex((other) => other.messageId === one.messageId) === i,
      );
      expect(reduce({ reducer: 'message' }, untimed(messages))).toEqual(firsts);
    }),
  );
});

test('counter: the order of writes does not matter', () => {
  const shuffled = fc
    .array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1 })
    .chain((values) => fc.tuple(fc.constant(values), fc.shuffledSubarray(values, { minLength: values.length })));
  fc.assert(
    fc.property(shuffled, ([values, others]) => {
      expect(reduce({ reducer: 'counter' }, untimed(values))).toBe(reduce({ reducer: 'counter' }, untimed(others)));
    }),
  );
});

test('time to live: after a write nothing is older than it, and nothing younger is gone', () => {
  const gaps = fc.array(fc.nat(80), { minLength: 1 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 100 }), (spans, ttlMs) => {
      let at = 0;
      const writes = spans.map((gap, value) => {
        at += gap;
        return { value, at };
      });
      const kept = writes
        .filter((write) => at - write.at <= ttlMs)
        .map((write) => ({ value: write.value, _ts: write.at }));
      expect(reduce({ reducer: 'append', ttlMs }, writes)).toEqual(kept);
    }),
  );
});

test('maxSize: the newest entries stay, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), fc.integer({ min: 1, max: 5 }), (values, maxSize) => {
      expect(reduce({ reducer: 'append', maxSize }, untimed(values))).toEqual(values.slice(-maxSize));
    }),
  );
});

test('votes: one entry per voter, the latest', () => {
  const vote = fc.record({ voter: fc.constantFrom('a', 'b', '__proto__'), vote: fc.nat() });
  fc.assert(
    fc.property(fc.array(vote, { minLength: 1 }), (votes) => {
      const latest = votes.filter((one, i) => votes.findLastIndex((other) => other.voter === one.voter) === i);
      expect(reduce({ reducer: 'votes' }, untimed(votes))).toEqual(latest);
    }),
  );
});

test('the counted size is that of the value, whatever was written', () => {
  const reducers = ['replace', 'append', 'votes', 'message', 'counter', 'merge'] as const;
  const value = fc.oneof(
    fc.jsonValue() as fc.Arbitrary<Json>,
    message,
    fc.record({ voter: fc.constantFrom('ann', 'bob'), n: fc.nat() }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.string()),
  );
  const write = fc.record({ reducer: fc.constantFrom(...reducers), value, gap: fc.nat(50) });
  const options = fc.record({ maxSize: fc.constantFrom(1, 3), ttlMs: fc.constantFrom(20, 100) }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(write), options, (writes, declared) => {
      const channels = declareChannels({ c: { reducer: 'append', default: [1, 'two'], ...declared } }, 0);
      let at = 0;
      for (const { reducer, value: written, gap } of writes) {
        at += gap;
        writeChannel(channels, { channel: 'c', reducer, value: written }, at);
        expect(channels.c?.bytes).toBe(heldSize(channels.c?.value));
      }
    }),
  );
});
