/** Rows of a range for one subscriber: from the ring of the context while that reaches back, else in pages from the log. */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { EventLog } from '../ports/event-log.ts';
import { isFull, type Row } from '../ports/rows.ts';
import { type Lens, rendered } from './lens.ts';
import { cursorOf, type Range, seqOf } from './range.ts';
import type { Ring, RingLimits, Wanted } from './ring.ts';
import type { Chunk } from './sink.ts';
import type { Source } from './subscriber.ts';

export interface RowSourceOptions {
  readonly range: Range;
  readonly lens: Lens;
  /** Where in the ring the range begins; `NOWHERE` when the log has to be read first. */
  readonly place: number;
  /** The run has ended, so that the end of the log is the end of the range. */
  readonly isOver: boolean;
}

/** No place of a ring: before all of them, so that the log is read first. */
export const NOWHERE = -1;

/** What the rows of one context are read from. */
export interface RowStore {
  readonly log: EventLog;
  readonly ring: Ring;
  /** Most that is read from the log at once. */
  readonly page: RingLimits;
}

export class RowSource implements Source, Wanted {
  readonly #from: RowStore;
  readonly #range: Range;
  readonly runId: RunId | null;
  readonly audience: 'client' | undefined;
  readonly lens: Lens;
  /** Position of the last row that was shown or passed over. */
  after: number;
  /** The next place in the ring. */
  #place: number;
  /** Where in the ring to go on after the page that is being read. */
  #joinAt = NOWHERE;
  #isOver: boolean;
  #isClosed = false;

  constructor(from: RowStore, { range, lens, place, isOver }: RowSourceOptions) {
    this.#from = from;
    this.#range = range;
    this.runId = 'runId' in range ? range.runId : null;
    this.audience = range.audience;
    this.lens = lens;
    this.after = 'runId' in range ? range.after : range.afterCursor;
    this.#place = place;
    this.#isOver = isOver;
  }

  get isBehind(): boolean {
    return this.#place < this.#from.ring.start;
  }

  /** The first place of the ring that is still needed here; `NOWHERE` when the log is read before it. */
  get needs(): number {
    if (this.#isClosed) return NOWHERE;
    return this.#place === NOWHERE ? this.#joinAt : this.#place;
  }

  /** Nothing more is wanted. */
  close(): void {
    this.#isClosed = true;
  }

  next(): Chunk | null {
    const { ring, page } = this.#from;
    if (this.#place === ring.end) return null;
    const stretch = ring.read(this.#place, this, page.size);
    this.#place = stretch.end;
    this.after = stretch.after;
    return stretch;
  }

  async page(): Promise<Chunk | null> {
    // Commits from here on are in the ring; earlier ones are in the log.
    const place = this.#from.ring.end;
    this.#place = NOWHERE;
    this.#joinAt = place;
    try {
      const { events: limit, size: maxBytes } = this.#from.page;
      const rows = await this.#rows(limit, maxBytes);
      if (this.#isClosed) return null;
      const last = rows.at(-1);
      // The terminal event may have passed through the ring unseen, and lie before the position that was asked for.
      if (last === undefined && !this.#isOver && (await this.#hasEnded())) {
        this.#isOver = true;
        return null;
      }
      const mayBeMore = isFull(rows, { limit, maxBytes });
      if (!mayBeMore) this.#place = place;
      return this.#shown(rows, this.#isOver && !mayBeMore);
    } finally {
      this.#joinAt = NOWHERE;
    }
  }

  #shown(rows: readonly Row[], isAll: boolean): Chunk {
    const positionOf = this.runId === null ? cursorOf : seqOf;
    const last = rows.at(-1);
    if (last !== undefined) this.after = positionOf(last);
    const isEnd = last !== undefined && this.runId !== null && isTerminalType(last.type);
    return { ...rendered(rows, this.lens, positionOf), isLast: isEnd || isAll };
  }

  #rows(limit: number, maxBytes: number): Promise<readonly Row[]> {
    const { log } = this.#from;
    const { audience, after } = this;
    if ('contextId' in this.#range) {
      const { contextId } = this.#range;
      const isForTasks = this.lens.face === 'task';
      return log.read({ contextId, audience, afterCursor: after, limit, maxBytes, isForTasks });
    }
    const { runId } = this.#range;
    return log.read({ runId, audience, after, limit, maxBytes, isForFrames: this.lens.face === 'payload' });
  }

  /** A context goes on after its runs. A run without a head was purged. */
  async #hasEnded(): Promise<boolean> {
    if (this.runId === null) return false;
    const head = await this.#from.log.head(this.runId);
    return head === null || head.record.endedAt !== null;
  }
}
