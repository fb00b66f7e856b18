/**
 * Folds rows into lanes of spans: a lane for each agent, for each child run and for the workflow itself. A span takes the lowest
 * row of its lane that is free, so that spans at the same time never overlap and nothing is laid out again.
 */
import { CowList } from './cow-list.ts';
import type { RunRow } from './run-row.ts';
import { type Change, changesOf, type SpanKind } from './timeline-changes.ts';

export interface Span {
  /** The row that began it. */
  readonly seq: number;
  readonly endSeq: number | null;
  readonly lane: number;
  /** The row inside its lane, from 0. */
  readonly row: number;
  readonly kind: SpanKind;
  readonly label: string;
  readonly startAt: number;
  readonly endAt: number | null;
  /** Counts from 1. */
  readonly attempt: number;
  readonly isFailed: boolean;
}

export interface Lane {
  /** The id of the agent or of the child run. */
  readonly name: string;
  /** The workflow of a child run. */
  readonly label: string | undefined;
  readonly kind: 'agent' | 'workflow' | 'child';
  /** The most spans at the same time. */
  readonly rows: number;
}

/** Spans at the same time beyond these share the last row. */
const MAX_ROWS = 32;

/** The rows of a lane in use, as bits. */
interface LaneState extends Lane {
  readonly used: number;
}

export class Timeline {
  readonly spans: CowList<Span>;
  readonly #lanes: LaneState[];
  readonly #laneOf: Map<string, number>;
  /** The places of unfinished spans, by their names. */
  readonly #open: Map<string, number>;
  /** The agent at work in each node. */
  readonly #agents: Map<string, string>;

  constructor(origin?: Timeline) {
    this.spans = origin?.spans.fork() ?? new CowList();
    this.#lanes = origin === undefined ? [] : [...origin.#lanes];
    this.#laneOf = new Map(origin === undefined ? [] : origin.#laneOf);
    this.#open = new Map(origin === undefined ? [] : origin.#open);
    this.#agents = new Map(origin === undefined ? [] : origin.#agents);
  }

  get lanes(): readonly Lane[] {
    return this.#lanes;
  }

  fork(): Timeline {
    return new Timeline(this);
  }

  take(row: RunRow): void {
    if (row.nodeId !== undefined) {
      if (row.type === 'node.started' && row.payload.agent !== undefined)
        this.#agents.set(row.nodeId, row.payload.agent.agentId);
      if (row.type === 'agent.invocation.started') this.#agents.set(row.nodeId, row.payload.agentId);
    }
    for (const change of changesOf(row)) this.#apply(row, change);
  }

  #apply(row: RunRow, change: Change): void {
    switch (change.do) {
      case 'begin':
        // A call that is entered again, as after a crash, ends what it had begun.
        this.#end(row, change.name, true);
        this.#begin(row, change);
        return;
      case 'begin-if-new':
        if (!this.#open.has(change.name)) this.#begin(row, change);
        return;
      case 'end':
        this.#end(row, change.name, change.isFailed);
        return;
      case 'end-all':
        for (const name of [...this.#open.keys()]) this.#end(row, name, change.isFailed);
        return;
    }
  }

  #begin(
    row: RunRow,
    { name, kind, label, attempt, agentId, childRunId }: Extract<Change, { do: 'begin' | 'begin-if-new' }>,
  ): void {
    const by = agentId ?? (row.nodeId === undefined ? undefined : this.#agents.get(row.nodeId));
    const lane =
      childRunId !== undefined
        ? this.#lane('child', childRunId, label)
        : by === undefined
          ? this.#lane('workflow', 'workflow')
          : this.#lane('agent', by);
    const free = this.#takeRow(lane);
    const span = {
      seq: row.seq,
      endSeq: null,
      lane,
      row: free,
      kind,
      label,
      startAt: row.at,
      endAt: null,
      attempt,
      isFailed: false,
    };
    this.#open.set(name, this.spans.push(span));
  }

  #end(row: RunRow, name: string, isFailed: boolean): void {
    const place = this.#open.get(name);
    if (place === undefined) return;
    this.#open.delete(name);
    const span = this.spans.get(place);
    if (span === undefined) return;
    this.spans.set(place, { ...span, endSeq: row.seq, endAt: row.at, isFailed });
    const lane = this.#lanes[span.lane];
    if (lane !== undefined) this.#lanes[span.lane] = { ...lane, used: lane.used & ~(1 << span.row) };
  }

  #lane(kind: Lane['kind'], name: string, label?: string): number {
    const key = `${kind}:${name}`;
    const known = this.#laneOf.get(key);
    if (known !== undefined) return known;
    this.#laneOf.set(key, this.#lanes.length);
    return this.#lanes.push({ name, label, kind, rows: 1, used: 0 }) - 1;
  }

  #takeRow(index: number): number {
    const lane = this.#lanes[index];
    if (lane === undefined) return 0;
    // The lowest bit that is not set.
    const row = Math.min(31 - Math.clz32(~lane.used & (lane.used + 1)), MAX_ROWS - 1);
    const free = row < 0 ? MAX_ROWS - 1 : row;
    this.#lanes[index] = { ...lane, used: lane.used | (1 << free), rows: Math.max(lane.rows, free + 1) };
    return free;
  }
}
