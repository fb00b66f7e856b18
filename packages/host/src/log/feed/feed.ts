/** The live feed: every subscriber gets each event of its run once and in order, at its own pace, from ring or log. */
import type { ContextId } from '@cairn/protocol';
import type { Commit, EventLog, RunRows } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import { endsRun } from '../run-index.ts';
import { Beginnings } from './beginnings.ts';
import { isUrgent, type Shown, shownOf } from './frame.ts';
import { everything, type Lens } from './lens.ts';
import { Ring, type RingLimits } from './ring.ts';

/** Where a subscriber's text goes. */
export interface Sink {
  /** Takes what the lens shows, never empty; false when it wants no more until `resume` is called. */
  write(chunk: string, about: Omit<Shown, 'text'>): boolean;
  /** Takes the last of a run that ended, which may be empty; `end` follows at once. Left out: `write` gets it. */
  writeLast?(chunk: string, about: Omit<Shown, 'text'>): void;
  /** Nothing more will be written: the run ended, or (with a fault) the log could not be read on. */
  end(fault?: unknown): void;
}

export interface Subscription {
  /** The sink takes more again. */
  resume(): void;
  /** Stops without calling `end`. */
  close(): void;
}

export interface FeedRange extends Pick<RunRows, 'runId' | 'after' | 'audience'> {
  /** Default: every row in a frame of its own. */
  readonly lens?: Lens;
}

/** How long news may wait, so that one write carries what would have been several. What somebody waits for never does. */
export interface Pace {
  /** Milliseconds; 0 while there is time for each. */
  holdMs(): number;
  after(ms: number, wake: () => void): void;
}

export interface FeedLimits {
  /** What is kept of each context that somebody follows. Default: 4,096 events or 4 Mi characters. */
  readonly ring: RingLimits;
  /** What is read from the log at once by who is behind. Default: 500 rows or 256 Ki characters. */
  readonly page: RingLimits;
}

const defaults: FeedLimits = {
  ring: { events: 4_096, size: 4_194_304 },
  page: { events: 500, size: 262_144 },
};

/** Characters in a ring from which on a write is worth its while. */
const WORTH_A_WRITE = 32_768;

const atOnce: Pace = { holdMs: () => 0, after: () => {} };

export interface FeedOptions extends Partial<FeedLimits> {
  /** Default: each event is written as it comes. */
  readonly pace?: Pace;
}

/** A context that somebody follows. */
interface Followed {
  readonly ring: Ring;
  readonly readers: Set<Reader>;
}

export class LiveFeed {
  readonly pace: Pace;
  readonly #log: EventLog;
  readonly #limits: FeedLimits;
  readonly #contexts = new Map<ContextId, Followed>();
  /** Contexts with events that their readers are offered as soon as the transaction has been told. */
  readonly #fresh = new Set<Followed>();
  /** Contexts with events that wait for more. */
  readonly #held = new Set<Followed>();
  readonly #beginnings = new Beginnings();

  constructor(log: EventLog, { pace = atOnce, ...limits }: FeedOptions = {}) {
    this.#log = log;
    this.#limits = { ...defaults, ...limits };
    this.pace = pace;
    log.follow((commit) => this.#told(commit));
  }

  /** Writes the run's events after a seq, then those that follow, and ends after the terminal one. */
  subscribe(range: FeedRange, sink: Sink): Subscription {
    const reader = new Reader(this.#log, this.#limits.page, { range, sink });
    void this.#join(reader);
    return reader;
  }

  async #join(reader: Reader): Promise<void> {
    try {
      const head = await this.#log.head(reader.runId);
      if (reader.closed) return;
      if (head === null) return reader.finish();
      const { contextId } = head.record;
      const known = this.#contexts.get(contextId);
      const followed = known ?? this.#follow(contextId);
      // Only into a new ring: what it is told next is what comes next.
      const beginning = known === undefined ? this.#beginnings.take(reader.runId, contextId) : null;
      const place = beginning === null ? null : followed.ring.end;
      if (beginning !== null) followed.ring.push(beginning);
      followed.readers.add(reader);
      followed.ring.isShared = followed.readers.size > 1;
      reader.onClose = () => this.#leave(contextId, followed, reader);
      reader.begin(followed.ring, place, head.record.endedAt !== null);
      if (beginning === null || beginning.some(isWaitedFor) || !this.#holds(followed)) reader.pump();
    } catch (fault) {
      reader.finish(fault);
    }
  }

  #follow(contextId: ContextId): Followed {
    const followed: Followed = { ring: new Ring(this.#limits.ring), readers: new Set() };
    this.#contexts.set(contextId, followed);
    return followed;
  }

  #leave(contextId: ContextId, followed: Followed, reader: Reader): void {
    followed.readers.delete(reader);
    followed.ring.isShared = followed.readers.size > 1;
    if (followed.readers.size === 0) this.#contexts.delete(contextId);
  }

  /** The commits of one transaction are told in one go, so what they bring goes out as one write a reader. */
  #told(commit: Commit): void {
    const followed = this.#contexts.get(commit.contextId);
    if (followed === undefined) {
      this.#beginnings.note(commit);
      return;
    }
    followed.ring.push(commit.rows);
    if (!this.#fresh.has(followed) && !commit.rows.some(isWaitedFor) && this.#holds(followed)) return;
    this.#held.delete(followed);
    if (this.#fresh.size === 0) queueMicrotask(() => this.#offer(this.#fresh));
    this.#fresh.add(followed);
  }

  /** Whether what is new in the context waits for more; it does not while there is time to write each by itself. */
  #holds(followed: Followed): boolean {
    const ms = this.pace.holdMs();
    if (ms === 0 || followed.ring.size >= WORTH_A_WRITE) return false;
    if (this.#held.size === 0) this.pace.after(ms, () => this.#offer(this.#held));
    this.#held.add(followed);
    return true;
  }

  #offer(waiting: Set<Followed>): void {
    const contexts = [...waiting];
    waiting.clear();
    for (const { ring, readers } of contexts) {
      let needed = ring.end;
      for (const reader of readers) {
        reader.pump();
        needed = Math.min(needed, reader.needs);
      }
      ring.trim(needed);
    }
  }
}

class Reader implements Subscription {
  readonly #log: EventLog;
  readonly #page: RingLimits;
  readonly #range: FeedRange;
  readonly #lens: Lens;
  readonly #sink: Sink;
  #ring: Ring | null = null;
  /** seq of the last event that was written or passed over. */
  #after: number;
  /** The next place in the ring; null while the log is read. */
  #place: number | null = null;
  /** Where in the ring to go on once the log has been read. */
  #joinAt = Number.POSITIVE_INFINITY;
  #over = false;
  #stalled = false;
  #reading = false;
  closed = false;
  onClose: (() => void) | null = null;

  constructor(log: EventLog, page: RingLimits, { range, sink }: { readonly range: FeedRange; readonly sink: Sink }) {
    this.#log = log;
    this.#page = page;
    this.#range = range;
    this.#lens = range.lens ?? everything;
    this.#sink = sink;
    this.#after = range.after;
  }

  get runId(): RunRows['runId'] {
    return this.#range.runId;
  }

  /** The first place of the ring that this reader still has to see; infinity when it will read the log first. */
  get needs(): number {
    return this.closed ? Number.POSITIVE_INFINITY : (this.#place ?? this.#joinAt);
  }

  /**
   * `place`: where in the ring the run begins, if it does. `over`: the run had ended, so that the end of the log is the
   * end of the feed.
   */
  begin(ring: Ring, place: number | null, over: boolean): void {
    this.#ring = ring;
    this.#place = place;
    this.#over = over;
  }

  resume(): void {
    this.#stalled = false;
    this.pump();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.onClose?.();
  }

  finish(fault?: unknown): void {
    if (this.closed) return;
    this.close();
    this.#sink.end(fault);
  }

  /** Writes what there is, from the ring when it reaches back far enough, until the sink has had enough. */
  pump(): void {
    const ring = this.#ring;
    if (ring === null || this.#reading) return;
    while (!this.closed && !this.#stalled) {
      if (this.#place === null || this.#place < ring.start) {
        this.#reading = true;
        void this.#readLog(ring);
        return;
      }
      if (this.#place === ring.end) return;
      const { runId, audience } = this.#range;
      const wanted = { runId, after: this.#after, audience, lens: this.#lens };
      const stretch = ring.read(this.#place, wanted, this.#page.size);
      this.#place = stretch.end;
      this.#write(stretch, stretch.seq, stretch.terminal);
    }
  }

  async #readLog(ring: Ring): Promise<void> {
    try {
      let more = true;
      while (more && !this.closed && !this.#stalled) more = await this.#readPage(ring);
    } catch (fault) {
      this.finish(fault);
    } finally {
      this.#reading = false;
      this.#joinAt = Number.POSITIVE_INFINITY;
    }
    this.pump();
  }

  /** Writes one page; gives whether the log may hold more that the ring does not. */
  async #readPage(ring: Ring): Promise<boolean> {
    // Whatever is told from here on lies in the ring; whatever was told before is in the log already.
    const place = ring.end;
    this.#joinAt = place;
    const { events: limit, size: maxBytes } = this.#page;
    const { runId, audience } = this.#range;
    const rows = await this.#log.read({ runId, audience, after: this.#after, limit, maxBytes, isForFrames: true });
    if (this.closed) return false;
    const last = rows.at(-1);
    if (last !== undefined) this.#write(shownOf(rows, this.#lens), last.seq, endsRun(last.type));
    if (rows.length === limit || size(rows) >= maxBytes) return true;
    if (this.#over) {
      this.finish();
      return false;
    }
    // The terminal event may have passed through the ring unseen, and lie before the seq that was asked for.
    if (last === undefined && (await this.#hasEnded())) {
      this.#over = true;
      return true;
    }
    this.#place = place;
    return false;
  }

  async #hasEnded(): Promise<boolean> {
    const head = await this.#log.head(this.runId);
    return head !== null && head.record.endedAt !== null;
  }

  #write(shown: Shown, seq: number, terminal: boolean): void {
    this.#after = seq;
    if (terminal && this.#sink.writeLast !== undefined) this.#sink.writeLast(shown.text, shown);
    else if (shown.text !== '' && !this.#sink.write(shown.text, shown)) this.#stalled = true;
    if (terminal) this.finish();
  }
}

const isWaitedFor = (row: Row): boolean => isUrgent(row.type);

const size = (rows: readonly Row[]): number =>
  rows.reduce((sum, row) => sum + row.payload.length + (row.task?.length ?? 0), 0);
