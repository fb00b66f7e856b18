/** The live feed: each subscriber gets every event of its range once and in order, at its own pace, from ring or log. */
import type { ContextId, RunId } from '@cairn/protocol';
import { PassingMap, PassingSet } from '../../passing-map.ts';
import type { Commit } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import type { RunRecord } from '../ports/run-index.ts';
import type { Store } from '../ports/store.ts';
import { Beginnings } from './beginnings.ts';
import { KeptPages } from './kept-pages.ts';
import { everything, type Lens } from './lens.ts';
import { isUrgent, type Pace } from './pace.ts';
import type { Range } from './range.ts';
import { Ring, type RingLimits } from './ring.ts';
import { MIN_CHUNK, NOWHERE, RowSource, type RowStore } from './row-source.ts';
import type { Sink, Subscription } from './sink.ts';
import { Subscriber } from './subscriber.ts';

/** A range, and how its rows are shown. Default: every row in a frame of its own. */
export type FeedRange = Range & {
  readonly lens?: Lens;
  /** The run that began the context a moment ago, here. While memory has all its rows, none is read. */
  readonly begunBy?: Pick<RunRecord, 'runId' | 'tenant'> | undefined;
  /** The run or the context of the range, if it was looked up a moment ago. Otherwise it is read. */
  readonly record?: Found['record'] | undefined;
};

export interface FeedLimits {
  /** What is kept of each followed context. Default: 4,096 events or 4 Mi characters. */
  readonly ring: RingLimits;
  /** Characters that the rings of all contexts keep together. Default: 64 Mi. */
  readonly total: number;
  /** What a subscriber that is behind reads from the log at once. Default: 500 rows or 256 Ki characters. */
  readonly page: RingLimits;
}

const defaults: FeedLimits = {
  ring: { events: 4_096, size: 4_194_304 },
  total: 67_108_864,
  page: { events: 500, size: 262_144 },
};

/** New characters of a context from which on a write pays off by itself. */
const WORTH_A_WRITE = 32_768;

/** Characters of one write. Of many subscribers, each gets less at once: what waits for those that do not read is bounded. */
const MAX_CHUNK = 65_536;
const MANY_SUBSCRIBERS = 256;

const atOnce: Pace = { holdMs: () => 0, after: () => {} };

/** Does the work of a tenant now, or in a later turn of the event loop when this one has done much. */
export type InTurn = (tenant: string, work: () => void) => void;

export interface FeedOptions extends Partial<FeedLimits> {
  /** Default: each event is written as it comes. */
  readonly pace?: Pace;
  /** A thousand writes take 20 ms. Default: all at once. */
  readonly inTurn?: InTurn;
}

type RowSubscriber = Subscriber<RowSource>;

/** A context with subscribers. */
interface Followed extends RowStore {
  readonly tenant: string;
  readonly subscribers: Set<RowSubscriber>;
  chunk: number;
  /** Subscribers that wait for their turn. */
  waiting: number;
  /** Once no subscriber waits, the ring drops what every subscriber has. */
  isOffered: boolean;
  /** Of the ring's `added`, what subscribers were told of. */
  offered: number;
}

/** What the log knows of a range. */
interface Found {
  readonly record: Pick<RunRecord, 'contextId' | 'tenant' | 'endedAt'>;
}

type FeedStore = Pick<Store, 'log' | 'contexts'>;

export class LiveFeed {
  readonly pace: Pace;
  /** Other feeds of the host write in the same turns. */
  readonly inTurn: InTurn;
  readonly #store: FeedStore;
  readonly #limits: FeedLimits;
  readonly #contexts = new PassingMap<ContextId, Followed>();
  /** Contexts whose new events are offered as soon as the whole transaction is known. */
  readonly #fresh = new PassingSet<Followed>();
  /** Contexts whose new events wait for more. */
  readonly #held = new PassingSet<Followed>();
  readonly #beginnings = new Beginnings();
  readonly #pages = new KeptPages();
  /** Characters in all rings. */
  #kept = 0;

  constructor(store: FeedStore, { pace = atOnce, inTurn = (_, work) => work(), ...limits }: FeedOptions = {}) {
    this.#store = store;
    this.#limits = { ...defaults, ...limits };
    this.pace = pace;
    this.inTurn = inTurn;
    store.log.follow(
      (commit) => this.#onCommit(commit),
      // A beginning that missed a row would be no beginning.
      { waits: ({ contextId }) => this.#contexts.has(contextId) || this.#beginnings.has(contextId) },
    );
  }

  /** Characters that all rings keep now. */
  get keptSize(): number {
    return this.#kept;
  }

  /** The context of a young run that nobody follows yet, and whose events are all in memory. */
  contextOfYoung(runId: RunId): ContextId | null {
    return this.#beginnings.contextOf(runId);
  }

  /** Writes the events of the range, then those that follow. The range of a run ends after its terminal event. */
  subscribe(range: FeedRange, sink: Sink): Subscription {
    const subscriber: RowSubscriber = new Subscriber(sink);
    void this.#join(subscriber, range);
    return subscriber;
  }

  /** Drops what memory holds of a context, because runs of it were purged. Who is behind reads what the log has left. */
  forget(contextId: ContextId): void {
    this.#beginnings.forget(contextId);
    this.#pages.clear();
    const followed = this.#contexts.get(contextId);
    if (followed === undefined) return;
    this.#kept -= followed.ring.size;
    followed.ring.clear();
  }

  async #join(subscriber: RowSubscriber, range: FeedRange): Promise<void> {
    try {
      const found = await this.#find(range);
      if (subscriber.isClosed) return;
      if (found === null) return subscriber.finish();
      const { contextId, tenant, endedAt } = found.record;
      const known = this.#contexts.get(contextId);
      const followed = known ?? this.#follow(contextId, tenant);
      const { ring } = followed;
      // Only into a new ring: its next commit is the one that follows the beginning.
      const runId = 'runId' in range ? range.runId : (range.begunBy?.runId ?? null);
      const beginning = known === undefined ? this.#beginnings.take(runId, contextId) : null;
      const place = beginning === null ? NOWHERE : ring.end;
      if (beginning !== null) this.#push(followed, beginning);
      const source = new RowSource(followed, {
        range,
        lens: range.lens ?? everything,
        place,
        isOver: endedAt !== null,
      });
      this.#enter(contextId, followed, subscriber);
      subscriber.begin(source);
      if (beginning === null || beginning.some(isWaitedFor) || !this.#holds(followed)) subscriber.pump();
    } catch (fault) {
      subscriber.finish(fault);
    }
  }

  /** A context that has a run has the shape of a run's head, and never ends. */
  async #find(range: FeedRange): Promise<Found | null> {
    if (range.record !== undefined) return { record: range.record };
    if ('runId' in range) return this.#store.log.head(range.runId);
    const { contextId, begunBy } = range;
    const tenant = begunBy?.tenant ?? (await this.#store.contexts.tenant(contextId));
    return tenant === null ? null : { record: { contextId, tenant, endedAt: null } };
  }

  #follow(contextId: ContextId, tenant: string): Followed {
    const { page } = this.#limits;
    const ring = new Ring(this.#limits.ring);
    const chunk = Math.min(page.size, MAX_CHUNK);
    const followed: Followed = {
      ...{ log: this.#store.log, page, pages: this.#pages, ring, chunk, tenant },
      ...{ subscribers: new Set(), waiting: 0, isOffered: false, offered: 0 },
    };
    this.#contexts.set(contextId, followed);
    return followed;
  }

  #enter(contextId: ContextId, followed: Followed, subscriber: RowSubscriber): void {
    const { ring, subscribers } = followed;
    subscribers.add(subscriber);
    this.#share(followed);
    subscriber.inTurn = (pump) => {
      followed.waiting += 1;
      this.inTurn(followed.tenant, () => {
        pump();
        followed.waiting -= 1;
        this.#trim(followed);
      });
    };
    subscriber.onClose = () => {
      subscriber.source?.close();
      subscribers.delete(subscriber);
      this.#share(followed);
      if (subscribers.size > 0) return;
      this.#contexts.delete(contextId);
      this.#kept -= ring.size;
      ring.clear();
      this.#pages.forget(contextId);
    };
  }

  #share(followed: Followed): void {
    const { ring, page, subscribers } = followed;
    ring.isShared = subscribers.size > 1;
    followed.chunk = Math.min(page.size, subscribers.size > MANY_SUBSCRIBERS ? MIN_CHUNK : MAX_CHUNK);
  }

  /** The commits of one transaction come in one go, so that each subscriber gets them in one write. */
  #onCommit(commit: Commit): void {
    const followed = this.#contexts.get(commit.contextId);
    if (followed === undefined) {
      this.#beginnings.note(commit);
      return;
    }
    this.#push(followed, commit.rows);
    if (!this.#fresh.has(followed) && !commit.rows.some(isWaitedFor) && this.#holds(followed)) return;
    this.#held.delete(followed);
    if (this.#fresh.size === 0) queueMicrotask(() => this.#offer(this.#fresh));
    this.#fresh.add(followed);
  }

  /** Adds rows to a ring. When all rings keep too much, large ones are emptied: who is behind there reads the log. */
  #push({ ring }: Followed, rows: readonly Row[]): void {
    const before = ring.size;
    ring.push(rows);
    this.#kept += ring.size - before;
    if (this.#kept <= this.#limits.total) return;
    const share = this.#kept / this.#contexts.size;
    for (const followed of this.#contexts.values()) {
      if (followed.ring === ring || followed.ring.size < share) continue;
      this.#kept -= followed.ring.size;
      followed.ring.clear();
      if (this.#kept <= this.#limits.total) return;
    }
    if (this.#kept <= this.#limits.total) return;
    this.#kept -= ring.size;
    ring.clear();
  }

  /** Whether the new events of the context wait for more. They do not while there is time to write each by itself. */
  #holds(followed: Followed): boolean {
    const ms = this.pace.holdMs();
    if (ms === 0 || followed.ring.added - followed.offered >= WORTH_A_WRITE) return false;
    if (this.#held.size === 0) this.pace.after(ms, () => this.#offer(this.#held));
    this.#held.add(followed);
    return true;
  }

  #offer(waiting: PassingSet<Followed>): void {
    const contexts = [...waiting];
    waiting.clear();
    for (const followed of contexts) {
      followed.offered = followed.ring.added;
      for (const subscriber of followed.subscribers) subscriber.pump();
      followed.isOffered = true;
      this.#trim(followed);
    }
  }

  /** Drops what every subscriber has, after the last one had its turn. */
  #trim(followed: Followed): void {
    if (followed.waiting > 0 || !followed.isOffered) return;
    followed.isOffered = false;
    const { ring, subscribers } = followed;
    let needed = ring.end;
    for (const { source } of subscribers) {
      const needs = source?.needs ?? NOWHERE;
      if (needs !== NOWHERE && needs < needed) needed = needs;
    }
    const before = ring.size;
    ring.trim(needed);
    ring.forgetTexts();
    this.#kept += ring.size - before;
  }
}

const isWaitedFor = (row: Row): boolean => isUrgent(row.type);
