/**
 * Long polls: subscribers that read the log once. A commit of their run that follows what was read is answered as it is,
 * any other one by another read.
 */
import { isTerminalStatus, isTerminalType, type RunId, type RunStatus, type TerminalType } from '@cairn/protocol';
import { docText } from '../../log/feed/frame.ts';
import { type Lens, payloads, rendered } from '../../log/feed/lens.ts';
import { type RunRange, seqOf } from '../../log/feed/range.ts';
import type { Chunk, Sink } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import { indexedTypes } from '../../log/fold-run-index.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import { bodySize, type Row } from '../../log/ports/rows.ts';
import { PassingMap } from '../../passing-map.ts';

/** Most of one chunk; the next poll asks for the next. */
const PAGE = { limit: 500, maxBytes: 1_048_576 };

/** Documents for a JSON list. They are part of a body, not of a line, so that payloads stay as they were stored. */
const documents: Lens = { ...payloads('poll', (type) => type, 'documents'), render: docText };

type PollSubscriber = Subscriber<PollSource>;

/** The newest event of a run, and its status then. */
export interface Standing {
  readonly seq: number;
  readonly status: RunStatus;
}

export interface PollSubscription {
  /** As of the newest documents, if they say; or a little before or after them, if both were read together. */
  readonly standing: Standing | null;
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
      get standing() {
        return source.standing;
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
  standing: Standing | null = null;
  #after: number;
  /** Whether everything up to `standing` was read or told. */
  #isLevel = false;
  /** Rows of commits since then. */
  readonly #told: Row[] = [];

  constructor(log: EventLog, range: RunRange) {
    this.#log = log;
    this.#range = range;
    this.#after = range.after;
  }

  /** Whether a commit brings a row of the range. A position past the end waits beyond it; the run's end concerns all. */
  hears({ rows }: Commit): boolean {
    const { audience } = this.#range;
    const shown = rows.filter((row) => row.seq > this.#after && (audience === undefined || row.audience === audience));
    const isNews = shown.length > 0 || rows.some(({ type }) => isTerminalType(type));
    const next = this.#isLevel && isPage(shown) ? standingAfter(this.standing, rows) : null;
    this.#isLevel = next !== null;
    if (next === null) {
      this.isBehind ||= isNews;
      return isNews;
    }
    this.standing = next;
    this.#told.push(...shown);
    return isNews;
  }

  next(): Chunk | null {
    const rows = this.#told.splice(0);
    const last = rows.at(-1);
    if (last === undefined && !this.#isOver) return null;
    return this.#chunk(rows);
  }

  async page(): Promise<Chunk | null> {
    this.isBehind = false;
    this.#told.length = 0;
    // Together: on a database, one after the other takes twice the time.
    const [rows, head] = await Promise.all([
      this.#log.read({ ...this.#range, after: this.#after, ...PAGE }),
      this.#log.head(this.#range.runId),
    ]);
    this.standing = head && { seq: head.seq, status: head.record.status };
    // More may follow what was found; the next poll gets it.
    if (rows.length > 0) this.isBehind = true;
    else if (!this.#isOver) {
      this.#isLevel = !this.isBehind;
      return null;
    }
    return this.#chunk(rows);
  }

  /** A run that was purged has nothing to wait for. */
  get #isOver(): boolean {
    return this.standing === null || isTerminalStatus(this.standing.status);
  }

  #chunk(rows: readonly Row[]): Chunk {
    this.#after = rows.at(-1)?.seq ?? this.#after;
    return { ...rendered(rows, documents, seqOf), isLast: rows.length === 0 };
  }
}

const endings: Readonly<Record<TerminalType, RunStatus>> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

const indexed: ReadonlySet<string> = new Set(indexedTypes);

/** Where a run stands after rows that follow. Null if others come before them, or if they do not say its status. */
function standingAfter(standing: Standing | null, rows: readonly Row[]): Standing | null {
  const last = rows.at(-1);
  if (standing === null || rows[0]?.seq !== standing.seq + 1 || last?.seq !== standing.seq + rows.length) return null;
  if (isTerminalType(last.type)) return { seq: last.seq, status: endings[last.type] };
  return rows.some(({ type }) => indexed.has(type)) ? null : { seq: last.seq, status: standing.status };
}

function isPage(rows: readonly Row[]): boolean {
  let size = 0;
  for (const row of rows) size += bodySize(row);
  return rows.length <= PAGE.limit && size <= PAGE.maxBytes;
}
