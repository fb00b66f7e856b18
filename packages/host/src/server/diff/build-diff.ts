/** Builds the answer of a diff: reads the events that differ once more, and writes their values within one bound. */
import {
  type Alignment,
  type ArtifactAlignment,
  alignArtifacts,
  alignSides,
  causationId,
  comparable,
  type DiffEntry,
  type DiffRoom,
  type DiffSection,
  describeMove,
  diffSections,
  eventId,
  foldEventOf,
  isoTime,
  type JsonObject,
  type Move,
  type MovePair,
  type OwnIds,
  type RawEvent,
  type RunDiff,
  type Slices,
  shownValue,
  type ValueChange,
  valueChanges,
  type WrittenArtifact,
} from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import { ContentComparer, type ContentPorts } from './artifact-content.ts';
import { artifactDiffs } from './artifact-diffs.ts';
import type { DiffRun, ReadSide } from './read-sides.ts';
import { stateDiff, totals } from './state-diff.ts';

/** Characters of values in one diff. Later ones are cut and counted. */
const MAX_CHARACTERS = 1_000_000;

/** Rows that are read for the text of one move. */
const MAX_TEXT_ROWS = 4_000;

const PAGE = { limit: 250, maxBytes: 131_072 };

export interface DiffInput {
  readonly runs: readonly [DiffRun, DiffRun];
  readonly sides: readonly [ReadSide, ReadSide];
  readonly sharedUpTo: number;
  readonly ids: OwnIds;
  readonly audience: 'client' | undefined;
  /** Entries of each section. */
  readonly limit: number;
}

type Which = 0 | 1;

export async function buildDiff(input: DiffInput, ports: ContentPorts): Promise<RunDiff> {
  const { runs, sides, limit, sharedUpTo } = input;
  const builder = new DiffBuilder(input, ports);
  const alignment = await builder.inSlices(alignSides(sides[0].side, sides[1].side, limit));
  const firstDivergence = await builder.divergence(alignment);
  const artifacts = await builder.inTurn(() => alignArtifacts(sides[0].artifacts, sides[1].artifacts, limit));
  const sections = {
    decisions: await builder.section(alignment, 'decisions'),
    toolCalls: await builder.section(alignment, 'toolCalls'),
    modelTurns: await builder.section(alignment, 'modelTurns'),
    answers: await builder.section(alignment, 'answers'),
    texts: await builder.section(alignment, 'texts'),
    artifacts: await builder.artifacts(artifacts),
    children: await builder.section(alignment, 'children'),
  };
  const state = await builder.inSlices(stateDiff(runs[0].view, runs[1].view, builder));
  const eventDiffs = await builder.events(alignment);
  const [a, b] = sides.map(({ branch }) => branch);
  const cairn = {
    sharedUpTo,
    firstDivergence,
    ...sections,
    totals: totals(runs[0], runs[1]),
    ...(a == null && b == null ? {} : { branches: { ...(a != null && { a }), ...(b != null && { b }) } }),
    leftOut: builder.leftOut(alignment, artifacts),
  };
  return {
    a: runs[0].head.record.runId,
    b: runs[1].head.record.runId,
    divergedAtSeq: alignment.events[0]?.seq ?? null,
    eventDiffs,
    stateDiff: { ...state, cairn },
    ...(runs.some(({ head }) => head.record.endedAt === null) && { truncated: true }),
  };
}

class DiffBuilder {
  readonly #input: DiffInput;
  readonly #ports: ContentPorts;
  readonly room: DiffRoom = { characters: MAX_CHARACTERS, cut: 0 };

  constructor(input: DiffInput, ports: ContentPorts) {
    this.#input = input;
    this.#ports = ports;
  }

  get ids(): OwnIds {
    return this.#input.ids;
  }

  /** Does a piece of work that costs what it writes. */
  inTurn<Result>(work: () => Result): Result | Promise<Result> {
    const { turns } = this.#ports;
    return turns.take(this.#input.runs[0].head.record.tenant, () => {
      const before = this.room.characters;
      const result = work();
      turns.charge(WORK_COST + (before - this.room.characters) * 4);
      return result;
    });
  }

  async inSlices<Result>(slices: Slices<Result>): Promise<Result> {
    const { turns } = this.#ports;
    for (;;) {
      const { done, value } = await turns.take(this.#input.runs[0].head.record.tenant, () => {
        turns.charge(SLICE_COST);
        return slices.next();
      });
      if (done === true) return value;
    }
  }

  async divergence({ divergence }: Alignment): Promise<RunDiff['stateDiff']['cairn']['firstDivergence']> {
    if (divergence === null) return null;
    const [a, b] = await Promise.all([this.#rowAt(0, divergence.a), this.#rowAt(1, divergence.b)]);
    const [one, other] = [a, b].map((row) => (row === null ? null : foldEventOf(row)));
    const changes = await this.inTurn(() =>
      one != null && other != null && one.type === other.type
        ? valueChanges(comparable(one, this.ids), comparable(other, this.ids), this.room)
        : [],
    );
    return { a: placeOf(a), b: placeOf(b), changes };
  }

  async section({ sections }: Alignment, name: DiffSection) {
    const { pairs, changed, same } = sections[name];
    const entries: DiffEntry[] = [];
    for (const pair of pairs) {
      const entry = await this.#entry(pair);
      if (entry !== null) entries.push(entry);
    }
    return { entries, changed, same };
  }

  artifacts(alignment: ArtifactAlignment): Promise<RunDiff['stateDiff']['cairn']['artifacts']> {
    const { runs, sharedUpTo } = this.#input;
    const { tenant } = runs[0].head.record;
    const inSlices = <Result>(slices: Slices<Result>) => this.inSlices(slices);
    const contents = new ContentComparer(this.#ports, { tenant, room: this.room, inSlices });
    const changesOf = async (a: WrittenArtifact | null, b: WrittenArtifact | null) =>
      this.inTurn(() => (a === null || b === null ? [] : valueChanges(aboutOf(a), aboutOf(b), this.room)));
    return artifactDiffs(alignment, { runs, sharedUpTo, contents, changesOf }, this.#ports);
  }

  async #entry({ a, b }: MovePair): Promise<DiffEntry | null> {
    const move = a ?? b;
    if (move === null) return null;
    const [left, right] = await Promise.all([this.#eventsOf(0, a), this.#eventsOf(1, b)]);
    const changes: readonly ValueChange[] = await this.inTurn(() =>
      valueChanges(
        a === null ? {} : describeMove(a, left, this.ids),
        b === null ? {} : describeMove(b, right, this.ids),
        this.room,
      ),
    );
    return {
      key: move.key,
      kind: move.kind,
      ...(move.nodeId !== null && { nodeId: move.nodeId }),
      visit: move.visit,
      op: a === null ? 'added' : b === null ? 'removed' : 'changed',
      ...(a !== null && { a: sideOf(a, left) }),
      ...(b !== null && { b: sideOf(b, right) }),
      changes,
    };
  }

  /** The events that hold the values of a move: a few by sequence, or the stretch of a text. */
  async #eventsOf(which: Which, move: Move | null): Promise<readonly RawEvent[]> {
    if (move === null) return [];
    if (!move.isText) {
      const rows = await Promise.all(move.seqs.map((seq) => this.#rowAt(which, seq)));
      return rows.filter((row) => row !== null).map(foldEventOf);
    }
    const { runId } = this.#input.runs[which].head.record;
    const { audience } = this.#input;
    const events: RawEvent[] = [];
    const last = Math.min(move.lastSeq, move.firstSeq + MAX_TEXT_ROWS);
    for (let after = move.firstSeq - 1; after < last; ) {
      const rows = await this.#ports.store.log.read({ runId, after, audience, ...PAGE, isForFrames: true });
      for (const row of rows) {
        if (row.seq > last) break;
        events.push(await this.inTurn(() => foldEventOf(row)));
      }
      after = rows.at(-1)?.seq ?? last;
    }
    return events;
  }

  /** The events that differ by sequence. */
  async events({ events }: Alignment): Promise<RunDiff['eventDiffs']> {
    const shown: RunDiff['eventDiffs'][number][] = [];
    for (const { seq, op } of events) {
      const [a, b] = await Promise.all([
        op === 'added' ? null : this.#rowAt(0, seq),
        op === 'removed' ? null : this.#rowAt(1, seq),
      ]);
      const [aEvent, bEvent] = [await this.#document(a), await this.#document(b)];
      shown.push({ seq, op, ...(aEvent !== null && { aEvent }), ...(bEvent !== null && { bEvent }) });
    }
    return shown;
  }

  /** A stored event as clients read it. Long values of its payload are cut. */
  #document(row: Row | null): Promise<JsonObject | null> | JsonObject | null {
    if (row === null) return null;
    return this.inTurn(() => {
      const { runId, seq, type, at, nodeId, cause } = row;
      const event: RawEvent = foldEventOf(row);
      const payload = Object.entries(event.payload).map(
        ([name, value]) => [name, shownValue(value, this.room)] as const,
      );
      return {
        eventId: eventId(runId, seq),
        runId,
        type,
        payload: Object.fromEntries(payload),
        timestamp: isoTime(at),
        sequence: seq,
        ...(nodeId !== null && { nodeId }),
        ...(cause !== null && { causationId: causationId(runId, cause) }),
      };
    });
  }

  leftOut(
    { sections, events, eventCount }: Alignment,
    { changed, pairs }: ArtifactAlignment,
  ): RunDiff['stateDiff']['cairn']['leftOut'] {
    const { sides } = this.#input;
    const counted = [
      ...diffSections.map((name) => ({ what: name, count: sections[name].changed - sections[name].pairs.length })),
      { what: 'artifacts', count: changed - pairs.length },
      { what: 'versions of later artifacts', count: sides[0].artifacts.left + sides[1].artifacts.left },
      { what: 'eventDiffs', count: eventCount - events.length },
      { what: 'long values', count: this.room.cut },
      { what: 'events of later moves', count: sides[0].side.left + sides[1].side.left },
      { what: 'events', count: sides[0].unread + sides[1].unread },
    ];
    return counted.filter(({ count }) => count > 0);
  }

  async #rowAt(which: Which, seq: number | null): Promise<Row | null> {
    if (seq === null) return null;
    const { runId } = this.#input.runs[which].head.record;
    const { audience } = this.#input;
    const [row] = await this.#ports.store.log.read({ runId, after: seq - 1, limit: 1, audience, isForFrames: true });
    return row?.seq === seq ? row : null;
  }
}

/** What a slice of the alignment costs: four of them fill a turn. */
const SLICE_COST = 65_536;

/** What a piece of work costs besides what it writes. */
const WORK_COST = 4_096;

/** What is compared of an artifact besides the content of its last version. */
function aboutOf({ last: { family, mimeType, description }, earlier, versions }: WrittenArtifact): JsonObject {
  const about = { ...(mimeType !== null && { mimeType }), ...(description !== null && { description }) };
  return { family, ...about, versions, earlier };
}

const placeOf = (row: Row | null) =>
  row === null ? null : { seq: row.seq, type: row.type, ...(row.nodeId !== null && { nodeId: row.nodeId }) };

function sideOf({ firstSeq, isReused, section }: Move, events: readonly RawEvent[]) {
  const childRunId = section === 'children' ? events[0]?.payload.childRunId : undefined;
  return {
    seq: firstSeq,
    ...(isReused && { reused: true }),
    ...(typeof childRunId === 'string' && { runId: childRunId }),
  };
}
