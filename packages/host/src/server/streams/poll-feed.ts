/** Long polls: subscribers that read the log alone, and again when a commit of their run brings them something. */
import { isTerminalStatus, isTerminalType, type RunId } from '@cairn/protocol';
import { docText } from '../../log/feed/frame.ts';
import { type Lens, payloads, rendered } from '../../log/feed/lens.ts';
import { type RunRange, seqOf } from '../../log/feed/range.ts';
import type { Chunk, Sink } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { Commit, EventLog, RunHead } from '../../log/ports/event-log.ts';
import { PassingMap } from '../../passing-map.ts';

/** Most of one chunk; the next poll asks for the next. */
const PAGE = { limit: 500, maxBytes: 1_048_576 };

/** Documents for a JSON list. They are part of a body, not of a line, so that payloads stay as they were stored. */
const documents: Lens = { ...payloads('poll', (type) => type, 'documents'), render: docText };

type PollSubscriber = Subscriber<PollSource>;

export interface PollSubscription {
  /** The run's head, read together with the newest rows: before or after them. Null before the first read, and once it was purged. */
  readonly head: RunHead | null;
  close(): void;
}

export class PollFeed {
  readonly #log: EventLog;
  readonly #runs = new PassingMap<RunId, Set<PollSubscriber>>();
  readonly #unfollow: () => void;

  constructor(log: EventLog) {
    this.#log = log;
    this.#unfollow = log.follow((commit) => this.#onCommit(commit), { waits: ({ runId }) => this.#runs.has(runId) });
  }

  /** Writes documents after a position, now or once there are any, and ends when the run has. */
  subscribe(range: RunRange, sink: Sink): PollSubscription {
    const { runId } = range;
    const subscriber: PollSubscriber = new Subscriber(sink);
    subscriber.onClose = () => this.#leave(runId, subscriber);
    const subscribers = this.#runs.get(runId);
    if (subscribers === undefined) this.#runs.set(runId, new Set([subscriber]));
    else subscribers.add(subscriber);
    const source = new PollSource(this.#log, range);
    subscriber.begin(source);
    subscriber.pump();
    return {
      get head() {
        return source.head;
      },
      close: () => subscriber.close(),
    };
  }

  /** Open subscriptions. */
  get size(): number {
    let size = 0;
    for (const subscribers of this.#runs.values()) size += subscribers.size;
    return size;
  }

  /** Ends every poll; its client asks again when the host is back. */
  close(): void {
    this.#unfollow();
    for (const subscribers of [...this.#runs.values()]) for (const subscriber of [...subscribers]) subscriber.finish();
  }

  #onCommit(commit: Commit): void {
    const subscribers = this.#runs.get(commit.runId);
    if (subscribers === undefined) return;
    for (const subscriber of [...subscribers]) {
      if (subscriber.source?.hears(commit) === true) subscriber.pump();
    }
  }

  #leave(runId: RunId, subscriber: PollSubscriber): void {
    const subscribers = this.#runs.get(runId);
    if (subscribers?.delete(subscriber) && subscribers.size === 0) this.#runs.delete(runId);
  }
}

class PollSource implements Source {
  readonly #log: EventLog;
  readonly #range: RunRange;
  /** The log may hold rows that were not read; a commit during a read says so again. */
  isBehind = true;
  head: RunHead | null = null;
  #after: number;

  constructor(log: EventLog, range: RunRange) {
    this.#log = log;
    this.#range = range;
    this.#after = range.after;
  }

  /** Whether a commit brings a row of the range. A position past the end waits beyond it; the run's end concerns all. */
  hears({ rows }: Commit): boolean {
    const { audience } = this.#range;
    const isNews = rows.some(
      (row) =>
        (row.seq > this.#after && (audience === undefined || row.audience === audience)) || isTerminalType(row.type),
    );
    if (isNews) this.isBehind = true;
    return isNews;
  }

  /** Memory holds nothing for a poll. */
  next(): null {
    return null;
  }

  async page(): Promise<Chunk | null> {
    this.isBehind = false;
    // Together: on a database, one after the other takes twice the time.
    const [rows, head] = await Promise.all([
      this.#log.read({ ...this.#range, after: this.#after, ...PAGE }),
      this.#log.head(this.#range.runId),
    ]);
    this.head = head;
    const last = rows.at(-1);
    if (last === undefined && head !== null && !isTerminalStatus(head.record.status)) return null;
    if (last !== undefined) {
      this.#after = last.seq;
      // More may follow; the next poll gets it.
      this.isBehind = true;
    }
    return { ...rendered(rows, documents, seqOf), isLast: last === undefined };
  }
}
