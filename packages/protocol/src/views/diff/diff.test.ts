/** What two runs did, aligned by meaning. */
import { expect, test } from 'vitest';
import type { FoldEvent, RawEvent } from '../../events/event.ts';
import type { Json, JsonObject } from '../../json.ts';
import { type Alignment, alignSides } from './align-sides.ts';
import { cleaned } from './comparable.ts';
import { DiffSide, MAX_MOVES } from './diff-side.ts';
import { Places } from './places.ts';
import { alignArtifacts, SideArtifacts } from './side-artifacts.ts';
import { allOf } from './slices.ts';
import { fieldChanges, valueChanges } from './value-changes.ts';

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

const aligned = (a: readonly Told[], b: readonly Told[]): Alignment => allOf(alignSides(sideOf(a), sideOf(b), 50));

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

/** The artifacts of a run that did what is told. */
function artifactsOf(told: readonly Told[]): SideArtifacts {
  const side = new SideArtifacts([['run_x', '{run}']]);
  told.forEach(([type, nodeId, payload], seq) => {
    side.add({ seq, at: seq, type, nodeId, payload } as FoldEvent);
  });
  return side;
}

const written = (artifactId: string, version: number, ...pieces: readonly string[]): Told[] =>
  pieces.map((data, index) => [
    'cairn.artifact.chunk',
    'work',
    {
      ...{ artifactId, version, index, data, bytes: data.length, complete: index === pieces.length - 1 },
      ...(index === pieces.length - 1 && { sha256: `hash of ${pieces.join('')}` }),
    },
  ]);

test('artifacts are equal by their versions, however they were cut into pieces', () => {
  const a = artifactsOf([
    ...written('one', 1, 'First ', 'draft.'),
    ...written('two', 1, 'x'),
    ...written('one', 2, 'End'),
  ]);
  const b = artifactsOf([...written('one', 1, 'First draft.'), ...written('one', 2, 'End'), ...written('two', 1, 'y')]);
  const { pairs, changed, same } = alignArtifacts(a, b, 10);
  expect([changed, same]).toEqual([1, 1]);
  expect(pairs).toMatchObject([{ a: { key: 'two', last: { sha256: 'hash of x' } }, b: { versions: 1 } }]);
});

test('a version that is not complete, or lacks a piece, is none; an id of the run is not compared', () => {
  const gap = written('gap', 1, 'a', 'b', 'c').filter(([, , { index }]) => index !== 1);
  const open = written('open', 1, 'a', 'b').slice(0, 1);
  expect([...artifactsOf([...gap, ...open, ...written('of run_x', 1, 'a')]).keys()]).toEqual(['of {run}']);
});

test('an artifact that another host only names has no content', () => {
  const named: Told = ['artifact.created', 'work', { artifactId: 'plan', artifactType: 'text/plain', version: '3' }];
  expect(artifactsOf([named]).get('plan')).toMatchObject({ last: { version: 3, hasContent: false } });
  const closing: Told = ['artifact.created', 'work', { artifactId: 'one', artifactType: 'text/plain', version: '1' }];
  expect(artifactsOf([...written('one', 1, 'a'), closing]).get('one')).toMatchObject({
    versions: 1,
    last: { hasContent: true },
  });
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
  class LookedPlaces extends Places {
    override seq(index: number) {
      looks += 1;
      return super.seq(index);
    }
    override hash(index: number) {
      looks += 1;
      return super.hash(index);
    }
  }
  const list = (places: Places): Places => {
    const looked = new LookedPlaces();
    for (let i = 0; i < places.length; i += 1) looked.push(places.seq(i) ?? 0, places.hash(i) ?? 0);
    return looked;
  };
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

test('the fields of two objects are compared slice by slice, with the same changes as all at once', () => {
  const ids = [
    ['run_1', '{run}'],
    ['run_2', '{run}'],
  ] as const;
  const long = (end: string) => Array.from({ length: 20_000 }, (_, i) => (i === 0 ? end : 'same'));
  const [a, b] = [
    { run_1: 'x', kept: long('a'), gone: 1, changed: long('a'), more: 'run_1' },
    { changed: long('b'), run_2: 'y', kept: long('a'), more: 'run_2', 7: true },
  ];
  const roomy = () => ({ characters: 10_000, cut: 0 });
  const whole = valueChanges(cleaned(a, ids), cleaned(b, ids), roomy());
  expect(whole.map(({ path }) => path)).toEqual(['{run}', 'gone', 'changed.0', '7']);
  expect(allOf(fieldChanges(a, b, { ids, room: roomy() }))).toEqual(whole);
  expect([...fieldChanges(a, b, { ids, room: roomy() })].length).toBeGreaterThan(4);
});
