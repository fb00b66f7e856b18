/** Rows of a range for one subscriber: from the ring of the context while that reaches back, else in pages from the log. */
import { isTerminalType, type RunId } from '@cairn/protocol';
import type { EventLog } from '../ports/event-log.ts';
import { isFull, type Row } from '../ports/rows.ts';
import { KeptPage, type KeptPages } from './kept-pages.ts';
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

/** The least that is written at once, and the most that a view with a state makes at once: about 2 ms. */
export const MIN_CHUNK = 16_384;

/** Rows that a view with a state takes at once: it parses each. */
const OWN_ROWS = 128;

/** No place of a ring: before all of them, so that the log is read first. */
export const NOWHERE = -1;

/** What the rows of one context are read from. */
export interface RowStore {
  readonly log: EventLog;
  readonly ring: Ring;
  /** Most that is read from the log at once. */
  readonly page: RingLimits;
  /** Most characters that one subscriber gets at once, also while it is behind. */
  readonly chunk: number;
  /** Of all contexts. */
  readonly pages: KeptPages;
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
  /** Where in the ring to go on after the page that is being read, or after the last row of a kept one. */
  #joinAt = NOWHERE;
  #joinAfter = Number.POSITIVE_INFINITY;
  /** What of the log it reads. */
  readonly #view: string;
  readonly #positionOf: (row: Row) => number;
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
    // A client may give its context the id of a run of another tenant.
    const name = 'runId' in range ? `run ${range.runId}` : `context ${range.contextId}`;
    this.#view = `${name} ${range.audience} ${lens.face}`;
    this.#positionOf = this.runId === null ? cursorOf : seqOf;
  }

  get isBehind(): boolean {
    return this.#isOffRing && this.#kept === null;
  }

  get #isOffRing(): boolean {
    return this.#place < this.#from.ring.start;
  }

  /** A page that was read before and goes on from here. */
  get #kept(): KeptPage | null {
    return this.#from.ring.isShared ? this.#from.pages.find(this.#view, this.after) : null;
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
    const { ring } = this.#from;
    if (this.#isOffRing) return this.#nextKept();
    if (this.#place === ring.end) return null;
    const stretch = ring.read(this.#place, this, this.#chunk);
    this.#place = stretch.end;
    this.after = stretch.after;
    return stretch;
  }

  /** A view with a state makes its text for one subscriber alone. */
  get isSlow(): boolean {
    return this.lens.key === null;
  }

  get #chunk(): number {
    return this.isSlow ? Math.min(this.#from.chunk, MIN_CHUNK) : this.#from.chunk;
  }

  #nextKept(): Chunk | null {
    const page = this.#kept;
    if (page === null) return null;
    const chunk = this.lens.condensed === undefined ? this.#stretch(page) : this.#rest(page);
    if (this.after >= this.#joinAfter) this.#join(this.#joinAt);
    return chunk;
  }

  #stretch(page: KeptPage): Chunk {
    const stretch = page.read(this, this.#chunk);
    this.after = stretch.after;
    return stretch;
  }

  #rest(page: KeptPage): Chunk {
    return this.#shown(page.rows.slice(page.placeAfter(this.after)), false);
  }

  /** Goes on in the ring. */
  #join(place: number): void {
    this.#place = place;
    this.#joinAt = NOWHERE;
    this.#joinAfter = Number.POSITIVE_INFINITY;
  }

  async page(): Promise<Chunk | null> {
    const { pages, ring } = this.#from;
    // Commits from here on are in the ring; earlier ones are in the log.
    const place = ring.end;
    this.#join(NOWHERE);
    this.#joinAt = place;
    let isKept = false;
    try {
      const { after } = this;
      const others = pages.reading(this.#view, after);
      if (others !== undefined) {
        await others;
        // What it brought may be kept now. If not, the next call reads.
        if (this.#isClosed || this.#kept !== null) return null;
      }
      const { rows, mayBeMore, kept } = await pages.announce(this.#view, after, this.#read());
      if (this.#isClosed) return null;
      const last = rows.at(-1);
      // The terminal event may have passed through the ring unseen, and lie before the position that was asked for.
      if (last === undefined && !this.#isOver && (await this.#hasEnded())) {
        this.#isOver = true;
        return null;
      }
      if (kept !== null) {
        isKept = !mayBeMore && !this.#isOver;
        if (isKept) this.#joinAfter = kept.through;
        return null;
      }
      if (!mayBeMore) this.#place = place;
      return this.#shown(rows, this.#isOver && !mayBeMore);
    } finally {
      if (!isKept) this.#joinAt = NOWHERE;
    }
  }

  async #read() {
    const { events, size: maxBytes } = this.#from.page;
    const limit = this.isSlow ? Math.min(events, OWN_ROWS) : events;
    const { after } = this;
    const rows = await this.#rows(limit, maxBytes);
    const mayBeMore = isFull(rows, { limit, maxBytes });
    return { rows, mayBeMore, kept: this.#keep(rows, after, mayBeMore) };
  }

  /** Keeps a page that others may want, or that is too large to be written at once. */
  #keep(rows: readonly Row[], after: number, mayBeMore: boolean): KeptPage | null {
    const { ring, pages, chunk } = this.#from;
    if (!ring.isShared || rows.length === 0) return null;
    const page = new KeptPage(this.#view, { after, rows, positionOf: this.#positionOf });
    if (!mayBeMore && page.size <= chunk) return null;
    pages.keep(page);
    return page;
  }

  #shown(rows: readonly Row[], isAll: boolean): Chunk {
    const positionOf = this.#positionOf;
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
