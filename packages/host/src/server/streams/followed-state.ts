/** The state of one followed run: each commit advances it, and its newest transitions are kept as text. */
import {
  eventId,
  isoTime,
  isTerminalStatus,
  isTransition,
  type JsonObject,
  type RunSnapshot,
  type RunView,
  runSnapshot,
  streamTypes,
} from '@cairn/protocol';
import { foldRow } from '../../engine/loading/run-view.ts';
import type { Form } from '../../log/feed/lens.ts';
import { isUrgent } from '../../log/feed/pace.ts';
import { type Chunk, chunkText } from '../../log/feed/sink.ts';
import type { Row } from '../../log/ports/rows.ts';
import { jsonPieces, nextStretch } from '../http/json-pieces.ts';

/** Characters of states kept for subscribers that are a little behind; the newest is kept whatever its size. */
const MAX_KEPT = 1_048_576;

/**
 * A larger state is not shown after each transition: a run of 30 MB would send 4 GB. It is shown from time to time, and
 * at the end of the run.
 */
const LARGE_STATE = 131_072;

/** The state of a run after one of its events, as text. */
export interface StateText {
  readonly seq: number;
  /** The document, in one part or, if it is large, in several. */
  readonly parts: readonly string[];
  /** Its characters. */
  readonly size: number;
  readonly urgent: boolean;
  /** The run has ended. */
  readonly isLast: boolean;
}

export class FollowedState {
  readonly #view: RunView;
  readonly #small = new SmallStates();
  /** The newest transitions, oldest first; of a large state, the one that was shown last. */
  #kept: StateText[] = [];
  #keptSize = 0;
  /** Every transition after this seq is kept, unless the state is large. */
  #floor: number;
  #lastTransition: number;
  #now: StateText | null = null;

  constructor(view: RunView) {
    this.#view = view;
    this.#small.noted(beginningOf(view, true).size);
    this.#floor = view.lastSeq;
    this.#lastTransition = view.lastSeq;
  }

  get view(): RunView {
    return this.#view;
  }

  get floor(): number {
    return this.#floor;
  }

  /** seq of the newest state that a subscriber should get. */
  get lastTransition(): number {
    return this.#lastTransition;
  }

  advance(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row.seq <= this.#view.lastSeq) continue;
      foldRow(this.#view, row);
      this.#small.add(row);
      if (!isTransition(row.type)) continue;
      this.#lastTransition = row.seq;
      const state = this.#small.textOf(this.#view, isUrgent(row.type));
      if (state !== null) this.#keep(state);
    }
    let gone = 0;
    for (const { seq, size } of this.#kept) {
      if (this.#keptSize <= MAX_KEPT || gone === this.#kept.length - 1) break;
      this.#keptSize -= size;
      this.#floor = seq;
      gone += 1;
    }
    if (gone > 0) this.#kept = this.#kept.slice(gone);
  }

  #keep(state: StateText): void {
    this.#kept.push(state);
    this.#keptSize += state.size;
  }

  /** What is kept for a subscriber that has seen the states up to a seq. One that is far behind gets the newest. */
  after(seq: number): readonly StateText[] {
    if (seq < this.#floor) return this.#newest().filter((state) => state.seq > seq);
    const first = this.#kept.findIndex((state) => state.seq > seq);
    return first < 0 ? [] : this.#kept.slice(first);
  }

  /** The current state, also when its last event was no transition; none while it is large and not shown. */
  #newest(): readonly StateText[] {
    if (this.#now?.seq !== this.#view.lastSeq) this.#now = this.#small.textOf(this.#view, true);
    return this.#now === null ? this.#kept.slice(-1) : [this.#now];
  }

  /** Keeps the text of a large state in place of all others. */
  show(state: StateText): void {
    this.#kept = [];
    this.#keptSize = 0;
    this.#keep(state);
    this.#small.noted(state.size);
    this.#floor = state.seq;
  }

  /** Drops a text that is too large to wait for a subscriber that stalls. */
  drop(): void {
    if (this.#keptSize <= MAX_KEPT) return;
    this.#kept = [];
    this.#keptSize = 0;
  }
}

/** Renders the states of a run while they are small. A state that was found large stays so until its text says otherwise. */
export class SmallStates {
  /** The size of the last text, and what events may have added since. */
  #size = 0;
  #isLarge = false;

  get isLarge(): boolean {
    return this.#isLarge;
  }

  add(row: Row): void {
    this.#size += row.payload.length;
  }

  /** The text of a state; null when it is large, which is found out at the cost of a small one. */
  textOf(view: RunView, urgent: boolean): StateText | null {
    if (this.#isLarge) return null;
    const state = this.#size <= LARGE_STATE ? stateText(view, urgent) : beginningOf(view, urgent);
    this.noted(state.size);
    return this.#isLarge ? null : state;
  }

  /** A text has this size. */
  noted(size: number): void {
    this.#size = size;
    this.#isLarge = size > LARGE_STATE;
  }
}

/** The whole text of a small state, or the beginning of a large one. */
const beginningOf = (view: RunView, urgent: boolean): StateText =>
  textOf(view, nextStretch(jsonPieces(stateDocument(view)), LARGE_STATE + 1), urgent);

/** The snapshot of a run in the envelope of an event that is not in the log. */
export function stateDocument(view: RunView, snapshot: RunSnapshot = runSnapshot(view)): JsonObject {
  const { runId, lastSeq, lastAt } = view;
  const cause = eventId(runId, lastSeq);
  return {
    eventId: `${cause}:state`,
    runId,
    type: streamTypes.snapshot,
    payload: { ...snapshot, atSeq: lastSeq },
    timestamp: isoTime(lastAt),
    sequence: lastSeq,
    causationId: cause,
  };
}

const stateText = (view: RunView, urgent: boolean): StateText =>
  textOf(view, JSON.stringify(stateDocument(view)), urgent);

const textOf = ({ lastSeq, status }: RunView, document: string, urgent: boolean): StateText => ({
  seq: lastSeq,
  parts: [document],
  size: document.length,
  urgent,
  isLast: isTerminalStatus(status),
});

/** Some states, in order, as a sink takes them; null for none. */
export function stateChunk(states: readonly StateText[], form: Form): Chunk | null {
  const last = states.at(-1);
  if (last === undefined) return null;
  const parts =
    form === 'documents'
      ? states.flatMap(({ parts: document }, index) => (index === 0 ? document : [',', ...document]))
      : states.flatMap(({ seq, parts: document }) => [
          `id: ${seq}\nevent: ${streamTypes.snapshot}\ndata: `,
          ...document,
          '\n\n',
        ]);
  const urgent = states.some((state) => state.urgent);
  return { ...chunkText(parts), upTo: last.seq, urgent, isLast: last.isLast };
}
