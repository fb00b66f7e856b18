/** The state of one run while somebody follows it: each commit advances it, and its newest transitions are kept as text. */
import {
  eventId,
  isoTime,
  isTerminalStatus,
  isTransition,
  type RunView,
  runSnapshot,
  streamTypes,
} from '@cairn/protocol';
import { foldRow } from '../../engine/stepping/run-view.ts';
import type { Form } from '../../log/feed/lens.ts';
import { isUrgent } from '../../log/feed/pace.ts';
import type { Chunk } from '../../log/feed/sink.ts';
import type { Row } from '../../log/ports/rows.ts';

/** Characters of states kept for subscribers that are a little behind; the newest is kept whatever its size. */
const MAX_KEPT = 1_048_576;

/** The state of a run after one of its events, as text. */
export interface StateText {
  readonly seq: number;
  readonly document: string;
  readonly urgent: boolean;
  /** The run has ended. */
  readonly isLast: boolean;
}

export class FollowedState {
  readonly #view: RunView;
  /** The newest transitions, oldest first. */
  #kept: StateText[] = [];
  #size = 0;
  /** Every transition after this seq is kept. */
  #floor: number;
  #now: StateText | null = null;

  constructor(view: RunView) {
    this.#view = view;
    this.#floor = view.lastSeq;
  }

  get floor(): number {
    return this.#floor;
  }

  advance(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row.seq <= this.#view.lastSeq) continue;
      foldRow(this.#view, row);
      if (!isTransition(row.type)) continue;
      const state = stateText(this.#view, isUrgent(row.type));
      this.#kept.push(state);
      this.#size += state.document.length;
    }
    let gone = 0;
    for (const { seq, document } of this.#kept) {
      if (this.#size <= MAX_KEPT || gone === this.#kept.length - 1) break;
      this.#size -= document.length;
      this.#floor = seq;
      gone += 1;
    }
    if (gone > 0) this.#kept = this.#kept.slice(gone);
  }

  /** The transitions after a seq that are kept. */
  after(seq: number): readonly StateText[] {
    const first = this.#kept.findIndex((state) => state.seq > seq);
    return first < 0 ? [] : this.#kept.slice(first);
  }

  /** The current state, also when its last event was no transition. */
  now(): StateText {
    if (this.#now?.seq !== this.#view.lastSeq) this.#now = stateText(this.#view, true);
    return this.#now;
  }
}

/** The snapshot of a run in the envelope of an event that is not in the log. */
export function stateText(view: RunView, urgent: boolean): StateText {
  const { runId, lastSeq, lastAt } = view;
  const cause = eventId(runId, lastSeq);
  const document = JSON.stringify({
    eventId: `${cause}:state`,
    runId,
    type: streamTypes.snapshot,
    payload: { ...runSnapshot(view), atSeq: lastSeq },
    timestamp: isoTime(lastAt),
    sequence: lastSeq,
    causationId: cause,
  });
  return { seq: lastSeq, document, urgent, isLast: isTerminalStatus(view.status) };
}

/** Some states, in order, as a sink takes them; null for none. */
export function stateChunk(states: readonly StateText[], form: Form): Chunk | null {
  const last = states.at(-1);
  if (last === undefined) return null;
  const text =
    form === 'documents'
      ? states.map(({ document }) => document).join()
      : states.map(({ seq, document }) => `id: ${seq}\nevent: ${streamTypes.snapshot}\ndata: ${document}\n\n`).join('');
  return { text, upTo: last.seq, urgent: states.some(({ urgent }) => urgent), isLast: last.isLast };
}
