/** What two runs did, aligned by meaning. */
import { expect, test } from 'vitest';
import type { RawEvent } from '../../events/event.ts';
import type { Json, JsonObject } from '../../json.ts';
import { type Alignment, alignSides } from './align-sides.ts';
import { DiffSide, MAX_MOVES } from './diff-side.ts';
import { valueChanges } from './value-changes.ts';

type Told = readonly [type: string, nodeId: string | undefined, payload: JsonObject];

function sideOf(told: readonly Told[], visits = {}): DiffSide {
  const side = new DiffSide({
    ids: [
      ['run_a', '{run}'],
      ['run_b', '{run}'],
    ],
    visits,
    isWhole: true,
  });
  told.forEach(([type, nodeId, payload], seq) => {
    side.add({ seq, at: seq, type, nodeId, payload } as RawEvent);
  });
  return side;
}

function aligned(a: readonly Told[], b: readonly Told[]): Alignment {
  const slices = alignSides(sideOf(a), sideOf(b), 50);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

const started = (nodeId: string, visit = 0): Told => ['node.started', nodeId, { nodeId, visit }];
const called = (callId: string, input: Json, round = 0): Told => [
  'agent.toolCalled',
  'work',
  { callId, toolName: 'look', arguments: input, ...(round === 0 ? {} : { round }) },
];
const returned = (callId: string, outcome: Json): Told => ['agent.toolReturned', 'work', { callId, outcome }];

test('ids, times and the names of the runs do not count', () => {
  const one = [started('work'), called('call_a', { run: 'run_a' }), ['node.completed', 'work', { durationMs: 4 }]];
  const other = [started('work'), called('call_b', { run: 'run_b' }), ['node.completed', 'work', { durationMs: 9 }]];
  expect(aligned(one as Told[], other as Told[])).toMatchObject({ divergence: null, events: [] });
});

test('the arguments of a tool count, whatever their names are', () => {
  const one = [started('work'), called('call_a', { callId: '1', durationMs: 1 })];
  const other = [started('work'), called('call_b', { callId: '2', durationMs: 1 })];
  expect(aligned(one, other).sections.toolCalls).toMatchObject({ changed: 1, same: 0 });
});

test('one more call shifts no later turn', () => {
  const one = [started('work'), called('a', 1), returned('a', 1), called('b', 2, 1), returned('b', 2)];
  const other = [
    started('work'),
    called('a', 1),
    called('x', 9),
    returned('a', 1),
    returned('x', 9),
    called('b', 2, 1),
    returned('b', 2),
  ];
  const { divergence, sections } = aligned(one, other);
  expect(divergence).toEqual({ a: 2, b: 2 });
  expect(sections.toolCalls).toMatchObject({ changed: 1, same: 2 });
  expect(sections.toolCalls.pairs[0]).toMatchObject({ a: null, b: { key: 'work#0/tool1', firstSeq: 2 } });
});

test('a node that is visited again has keys of its own', () => {
  const visit = (n: number, value: Json): Told[] => [
    started('work', n),
    ['node.completed', 'work', { outputs: { value } }],
  ];
  const { sections } = aligned([...visit(0, 1), ...visit(1, 2)], [...visit(0, 1), ...visit(1, 3)]);
  expect(sections.decisions.pairs.map(({ a }) => a?.key)).toEqual(['work#1/node0']);
});

test('the row that begins a branch is no divergence, although every sequence moves', () => {
  const rest: Told[] = [started('work'), called('a', 1), returned('a', 1)];
  const branch: Told[] = [['cairn.run.forked', undefined, { fromSeq: 0 }], ...rest];
  const found = aligned(rest, branch);
  expect(found.divergence).toBeNull();
  expect(found.sections.toolCalls).toMatchObject({ changed: 0, same: 1 });
  expect(found.events[0]).toEqual({ seq: 0, op: 'changed' });
});

test('a text is the same however it was cut into chunks', () => {
  const chunks = (...pieces: readonly string[]): Told[] =>
    pieces.map((chunk) => ['output.chunk', 'work', { channel: 'm0', chunk, isLast: false }]);
  const { divergence, sections } = aligned(chunks('Hel', 'lo'), chunks('H', 'ell', 'o'));
  expect(divergence).toBeNull();
  expect(sections.texts).toMatchObject({ changed: 0, same: 1 });
  expect(aligned(chunks('Hel', 'lo'), chunks('Hello!')).sections.texts.changed).toBe(1);
});

test('turns are the same texts whether they were streamed, each in its channel, or came whole in one', () => {
  const chunk = (channel: string, text: string, isLast: boolean): Told => [
    'output.chunk',
    'work',
    { channel, chunk: text, isLast },
  ];
  const streamed = ['m0', 'm1'].flatMap((turn) => [chunk(turn, `Text of `, false), chunk(turn, turn, true)]);
  const whole = [chunk('inv', 'Text of m0', true), chunk('inv', 'Text of m1', true)];
  expect(aligned(streamed, whole).sections.texts).toMatchObject({ changed: 0, same: 2 });
});

test('each version of an artifact is a text of its own, and one outside the log is compared by its hash', () => {
  const version = (n: number, ...pieces: readonly string[]): Told[] =>
    pieces.map((data, index) => [
      'cairn.artifact.chunk',
      'work',
      { artifactId: 'art_1', version: n, index, data, complete: index === pieces.length - 1 },
    ]);
  const blob = (sha256: string): Told => [
    'cairn.artifact.chunk',
    'work',
    { artifactId: 'art_2', version: 1, index: 0, complete: true, blob: { sha256, size: 9 } },
  ];
  const one = [...version(1, 'First ', 'draft.'), ...version(2, 'Final.'), blob('aa')];
  const other = [...version(1, 'First draft.'), ...version(2, 'Final!'), blob('bb')];
  const { changed, same, pairs } = aligned(one, other).sections.texts;
  expect([changed, same]).toEqual([2, 1]);
  expect(pairs.map(({ a }) => a?.key)).toEqual(['work#0/artifact1', 'work#0/artifact2']);
  expect(aligned(one, one).sections.texts).toMatchObject({ changed: 0, same: 3 });
});

test('a reused result is the same result', () => {
  const one = [started('work'), called('a', 1), returned('a', 1)];
  const reused: Told = [
    'agent.toolReturned',
    'work',
    { callId: 'a', outcome: 1, reusedFrom: { runId: 'run_a', seq: 2 } },
  ];
  const other = [started('work'), called('a', 1), reused];
  expect(aligned(one, other).sections.toolCalls).toMatchObject({ changed: 0, same: 1 });
  expect(sideOf(other).moves.get('work#0/tool0')).toMatchObject({ isReused: true });
});

test('a side keeps a bounded number of moves, and counts the others', () => {
  const many: Told[] = Array.from({ length: MAX_MOVES + 5 }, (_, i) => ['agent.decided', 'work', { decision: i }]);
  const side = sideOf(many);
  expect([side.moves.size, side.left]).toEqual([MAX_MOVES, 5]);
});

test('the alignment of long runs yields after a bounded number of looks', () => {
  let looks = 0;
  const list = <Item>(items: Item[]): Item[] =>
    new Proxy(items, {
      get(target, name) {
        looks += 1;
        return Reflect.get(target, name);
      },
    });
  class Looked<Key, Value> extends Map<Key, Value> {
    override get(key: Key) {
      looks += 1;
      return super.get(key);
    }
    override has(key: Key) {
      looks += 1;
      return super.has(key);
    }
    override *values() {
      for (const value of super.values()) {
        looks += 1;
        yield value;
      }
      return undefined;
    }
  }
  const sideFrom = (first: number) => {
    const told = Array.from({ length: 10_000 }, (_, i): Told => ['agent.decided', `n${first + i}`, { decision: 1 }]);
    const { compared, events, moves } = sideOf(told);
    return { compared: list(compared), events: list(events), moves: new Looked(moves) };
  };
  for (const first of [0, 5_000, 10_000]) {
    const slices = alignSides(sideFrom(0), sideFrom(first), 50);
    for (let isDone = false; !isDone; ) {
      looks = 0;
      isDone = slices.next().done === true;
      expect(looks).toBeLessThan(10_000);
    }
  }
});

test('values are compared by path, and what is long is cut and counted', () => {
  const room = { characters: 10_000, cut: 0 };
  expect(valueChanges({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3] }, d: null }, room)).toEqual([
    { path: 'a.b.1', a: 2, b: 3 },
    { path: 'c', a: 1 },
    { path: 'd', b: null },
  ]);
  expect(room.cut).toBe(0);
  const [cut] = valueChanges(1, { long: 'x'.repeat(5_000) }, room);
  expect(String(cut?.b)).toMatch(/^\{"long":"x+… 3011 more characters$/);
  expect(room.cut).toBe(1);
  const full = { characters: 0, cut: 0 };
  expect(valueChanges({ a: 1 }, { a: 2 }, full)).toEqual([]);
  expect(full.cut).toBe(1);
});
