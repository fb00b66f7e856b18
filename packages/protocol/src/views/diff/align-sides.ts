/** Aligns what two runs did: the first divergence, the events that differ by sequence, the moves that differ by key. */
import type { DiffSide, Move } from './diff-side.ts';
import type { DiffSection } from './moves.ts';
import type { Slices } from './slices.ts';

/** The events at which two runs first differ; a run that ended before has none. */
export interface Divergence {
  readonly a: number | null;
  readonly b: number | null;
}

/** A sequence at which the logs differ. */
export interface EventDifference {
  readonly seq: number;
  readonly op: 'added' | 'removed' | 'changed';
}

/** A move that is in one run only, or differs. */
export interface MovePair {
  readonly a: Move | null;
  readonly b: Move | null;
}

export interface Alignment {
  readonly divergence: Divergence | null;
  /** Those up to the limit, and the number of all. */
  readonly events: readonly EventDifference[];
  readonly eventCount: number;
  readonly sections: Readonly<Record<DiffSection, SectionAlignment>>;
}

export interface SectionAlignment {
  /** In the order of the first run, up to the limit. */
  readonly pairs: readonly MovePair[];
  /** The number of all that differ, and of those that are equal. */
  readonly changed: number;
  readonly same: number;
}

/** The parts of a side that are aligned. */
type Side = Pick<DiffSide, 'compared' | 'events' | 'moves'>;

/** Work between two yields: less than a millisecond. */
const SLICE = 1_000;

/** Two runs of 100,000 events take about 50 ms. */
export function* alignSides(a: Side, b: Side, limit: number): Slices<Alignment> {
  const divergence = yield* firstDivergence(a, b);
  const { events, eventCount } = yield* byOrder(a, b, limit);
  return { divergence, events, eventCount, sections: yield* byKey(a, b, limit) };
}

function* firstDivergence(a: Side, b: Side): Slices<Divergence | null> {
  const length = Math.max(a.compared.length, b.compared.length);
  for (let i = 0; i < length; i += 1) {
    if (i % SLICE === 0) yield;
    if (a.compared.hash(i) !== b.compared.hash(i))
      return { a: a.compared.seq(i) ?? null, b: b.compared.seq(i) ?? null };
  }
  return null;
}

function* byOrder(a: Side, b: Side, limit: number): Slices<Pick<Alignment, 'events' | 'eventCount'>> {
  const events: EventDifference[] = [];
  let eventCount = 0;
  const differs = (seq: number, op: EventDifference['op']) => {
    eventCount += 1;
    if (events.length < limit) events.push({ seq, op });
  };
  let [i, j] = [0, 0];
  while (i < a.events.length || j < b.events.length) {
    const x = a.events.seq(i) ?? Number.POSITIVE_INFINITY;
    const y = b.events.seq(j) ?? Number.POSITIVE_INFINITY;
    if (x < y) differs(x, 'removed');
    else if (y < x) differs(y, 'added');
    else if (a.events.hash(i) !== b.events.hash(j)) differs(x, 'changed');
    if (x <= y) i += 1;
    if (y <= x) j += 1;
    if ((i + j) % SLICE < 2) yield;
  }
  return { events, eventCount };
}

function* byKey(a: Side, b: Side, limit: number): Slices<Record<DiffSection, SectionAlignment>> {
  const none = () => ({ pairs: [] as MovePair[], changed: 0, same: 0 });
  const sections = {
    decisions: none(),
    toolCalls: none(),
    modelTurns: none(),
    answers: none(),
    texts: none(),
    children: none(),
  } satisfies Record<DiffSection, SectionAlignment>;
  let count = 0;
  for (const pair of pairsOf(a, b, yield* onlyInSecond(a, b))) {
    count += 1;
    if (count % SLICE === 0) yield;
    const move = pair.a ?? pair.b;
    if (move === null) continue;
    const section = sections[move.section];
    if (pair.a !== null && pair.b !== null && pair.a.hash.value === pair.b.hash.value) section.same += 1;
    else {
      section.changed += 1;
      if (section.pairs.length < limit) section.pairs.push(pair);
    }
  }
  return sections;
}

function* onlyInSecond(a: Side, b: Side): Slices<readonly Move[]> {
  const only: Move[] = [];
  let count = 0;
  for (const move of b.moves.values()) {
    count += 1;
    if (count % SLICE === 0) yield;
    if (!a.moves.has(move.key)) only.push(move);
  }
  return only;
}

/** Every move of both, by its place in the first run, else in the second. Both sides are in order. */
function* pairsOf(a: Side, b: Side, onlyB: readonly Move[]): Generator<MovePair> {
  let next = 0;
  for (const move of a.moves.values()) {
    for (; next < onlyB.length && (onlyB[next]?.firstSeq ?? 0) < move.firstSeq; next += 1) {
      yield { a: null, b: onlyB[next] ?? null };
    }
    yield { a: move, b: b.moves.get(move.key) ?? null };
  }
  for (; next < onlyB.length; next += 1) yield { a: null, b: onlyB[next] ?? null };
}
