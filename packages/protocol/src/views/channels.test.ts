import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import type { ChannelDeclaration } from '../runs/workflow-definition.ts';
import { type Channels, channelValues, declareChannels, writeChannel } from './channels.ts';

type Write = readonly [value: Json, at?: number];

/** The value of one channel after these writes through one reducer. */
function after(
  reducer: string,
  writes: readonly Write[],
  declared: Partial<ChannelDeclaration> = {},
): Json | undefined {
  const channels = declareChannels({ c: { reducer, ...declared } }, 0);
  for (const [value, at = 0] of writes) writeChannel(channels, { channel: 'c', reducer, value }, at);
  return channelValues(channels).c;
}

test('replace keeps the last value', () => {
  expect(after('replace', [[1], [{ a: 1 }]])).toEqual({ a: 1 });
});

test('a reducer of a vendor keeps the last value', () => {
  expect(after('vendor.acme.median', [[1], [5]])).toBe(5);
});

test('append and feedback add to the end', () => {
  expect(after('append', [['a'], [['b']]])).toEqual(['a', ['b']]);
  expect(after('feedback', [[{ text: 'good' }]], { default: [{ text: 'old' }] })).toEqual([
    { text: 'old' },
    { text: 'good' },
  ]);
});

test('counter sums, also downwards, from its default', () => {
  expect(after('counter', [[2], [-5]], { default: 10 })).toBe(7);
  expect(after('counter', [[2]])).toBe(2);
  expect(after('counter', [['two']])).toBe(0);
  // The sum stays a number of JSON, so that a state that was saved goes on with it.
  expect(after('counter', [[1.7e308], [1.7e308], [-1]])).toBe(Number.MAX_VALUE);
  expect(after('counter', [[-1.7e308], [-1.7e308]])).toBe(-Number.MAX_VALUE);
});

test('merge is shallow and treats any name as a name', () => {
  const odd = JSON.parse('{"__proto__":1,"constructor":2}') as Json;
  const merged = after('merge', [[{ a: { x: 1 } }], [{ a: { y: 2 }, b: 1 }], [odd]]);
  expect(JSON.stringify(merged)).toBe('{"a":{"y":2},"b":1,"__proto__":1,"constructor":2}');
});

test('merge of something that is no object replaces the whole', () => {
  expect(after('merge', [[{ a: 1 }], ['x']])).toBe('x');
  expect(after('merge', [['x'], [{ a: 1 }]])).toEqual({ a: 1 });
});

test('votes keeps the latest of each voter and all of those without a name', () => {
  const votes: Write[] = [
    [{ voter: 'a', vote: 1 }],
    [{ voter: 'b', vote: 1 }],
    [{ voter: 'a', vote: 2 }],
    ['?'],
    ['?'],
  ];
  expect(after('votes', votes)).toEqual([{ voter: 'b', vote: 1 }, { voter: 'a', vote: 2 }, '?', '?']);
});

test('message takes each id once, those of the default too, and whatever has none', () => {
  const messages: Write[] = [[{ messageId: 'm1' }], [{ messageId: 'm0' }], [{ messageId: 'm1', n: 2 }], ['x'], ['x']];
  expect(after('message', messages, { default: [{ messageId: 'm0' }] })).toEqual([
    { messageId: 'm0' },
    { messageId: 'm1' },
    'x',
    'x',
  ]);
});

test('a message that was dropped for size is not taken again', () => {
  const messages: Write[] = [[{ messageId: 'm1' }], [{ messageId: 'm2' }], [{ messageId: 'm1' }]];
  expect(after('message', messages, { maxSize: 1 })).toEqual([{ messageId: 'm2' }]);
});

test.each(['append', 'feedback', 'votes'])('%s drops the oldest beyond maxSize', (reducer) => {
  expect(after(reducer, [['a'], ['b'], ['c']], { maxSize: 2 })).toEqual(['b', 'c']);
});

test('entries of a channel with a time to live carry their time and go when they are older than it', () => {
  const writes: Write[] = [
    ['a', 1000],
    ['b', 1100],
    ['c', 1300],
    ['d', 1301],
  ];
  expect(after('append', writes.slice(0, 3), { ttlMs: 200 })).toEqual([
    { value: 'b', _ts: 1100 },
    { value: 'c', _ts: 1300 },
  ]);
  expect(after('append', writes, { ttlMs: 200 })).toEqual([
    { value: 'c', _ts: 1300 },
    { value: 'd', _ts: 1301 },
  ]);
});

test('a fresh write is all that is left once the earlier ones are too old', () => {
  const writes: Write[] = [
    ['a', 0],
    ['b', 0],
    ['c', 0],
    ['d', 300],
  ];
  expect(after('append', writes, { ttlMs: 200 })).toEqual([{ value: 'd', _ts: 300 }]);
});

test('default entries age from the start of the run', () => {
  expect(after('append', [['a', 200]], { ttlMs: 200, default: ['z'] })).toHaveLength(2);
  expect(after('append', [['a', 201]], { ttlMs: 200, default: ['z'] })).toEqual([{ value: 'a', _ts: 201 }]);
});

test('votes with a time to live finds the earlier vote inside its entry', () => {
  expect(
    after(
      'votes',
      [
        [{ voter: 'a', vote: 1 }, 1],
        [{ voter: 'a', vote: 2 }, 2],
      ],
      { ttlMs: 100 },
    ),
  ).toEqual([{ value: { voter: 'a', vote: 2 }, _ts: 2 }]);
});

test('an undeclared channel begins with its first write', () => {
  const channels: Channels = declareChannels(undefined, 0);
  writeChannel(channels, { channel: '__proto__', reducer: 'append', value: 1 }, 0);
  expect(JSON.stringify(channelValues(channels))).toBe('{"__proto__":[1]}');
});

test('a value that came with an event is copied before it is changed', () => {
  const channels = declareChannels(undefined, 0);
  const list: Json = Object.freeze([1]);
  const object: Json = Object.freeze({ a: 1 });
  writeChannel(channels, { channel: 'list', reducer: 'replace', value: list }, 0);
  writeChannel(channels, { channel: 'list', reducer: 'append', value: 2 }, 0);
  writeChannel(channels, { channel: 'object', reducer: 'replace', value: object }, 0);
  writeChannel(channels, { channel: 'object', reducer: 'merge', value: { b: 2 } }, 0);
  expect(channelValues(channels)).toEqual({ list: [1, 2], object: { a: 1, b: 2 } });
  expect([list, object]).toEqual([[1], { a: 1 }]);
});
