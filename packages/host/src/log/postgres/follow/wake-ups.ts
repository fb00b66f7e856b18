/**
 * Tells other nodes that there is something to read, and hears it from them. Off the path of writes: at once when it is
 * quiet, and once for all commits of 10 ms under load. A lost notification costs time, never events: each node also looks
 * by itself.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import { PassingMap, PassingSet } from '../../../passing-map.ts';
import type { Admission } from '../commit/admission.ts';
import type { Pool, Queries, Statement } from '../database.ts';
import { Paced } from './paced.ts';
import { type Heard, hear, type News, NOTIFY, type Place, say, tell } from './said.ts';

/** Commits within this time share a notification, and notifications within it a look. */
const GATHER_MS = 10;

/** A notification waits so much longer for a commit that takes it along, which costs half as much as one by itself. */
const RIDE_MS = 5;

/** The same for commits that nobody here waits for, so that a busy cluster is not busy with looking. */
const PATIENT_MS = 100;

/** Until the first look for what was not settled at the last one. */
const SETTLE_MS = 2;

/** Between two looks without a notification; more often while none comes through, as behind a transaction pooler. */
const LOOK_MS = 1_000;
const LOOK_DEAF_MS = 100;

/** An own notification comes back within this time, or the way is closed. */
const ECHO_MS = 2_000;

export interface WakeUpPorts {
  /** For notifications that go out. */
  readonly queries: Queries;
  /** A session of its own, straight to the database. */
  readonly listener: Pool;
  /** Known to the nodes of this database only: notifications tell what is in its tables. */
  readonly channel: string;
  /** Names this node among those that notify. */
  readonly name: string;
  /** Whether somebody here waits for rows of a run or a context. */
  readonly isWanted: (place: Place) => boolean;
  /** Tells rows that a notification brought. Returns false if others come before them. */
  readonly tellNews: (news: News) => boolean;
  /** Tells what others wrote in these contexts. */
  readonly readContexts: (contexts: readonly ContextId[]) => Promise<void>;
  /** Looks for everything that others wrote. Resolves with whether it saw more, which is not settled yet. */
  readonly look: () => Promise<boolean>;
  /** A look that failed. The next one is tried all the same. */
  readonly onFault: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number;
}

export class WakeUps {
  readonly #ports: WakeUpPorts;
  #gathering: NodeJS.Timeout | null = null;
  /** Since the last notification. */
  readonly #written = new PassingMap<RunId, Place>();
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #sentAt: number | null = null;
  /** Whether own notifications come back. */
  #isHearing = false;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #unlisten: (() => Promise<void>) | null = null;
  #sending: Promise<unknown> = Promise.resolve();
  /** Contexts with something new that somebody here waits for. */
  readonly #wanted = new PassingSet<ContextId>();
  readonly #reads: Paced;
  readonly #looks: Paced;
  /** Whether the last look left something to come. */
  #isBehind = false;

  constructor(ports: WakeUpPorts) {
    this.#ports = ports;
    const { elapsedMs } = ports;
    this.#reads = new Paced({ work: () => this.#readWanted(), elapsedMs });
    this.#looks = new Paced({ work: () => this.#lookNow(), elapsedMs });
  }

  open(): void {
    this.#schedule();
    void this.#listen();
  }

  /**
   * The notification of a batch, to be sent right behind its commit: of what was gathered before it, or with its rows when
   * it is quiet. Null if one was sent a moment ago: `notify` follows.
   */
  behind(admission: Admission): Statement | null {
    const { channel, name } = this.#ports;
    if (this.#isClosed || this.#waitMs > 0) return null;
    this.#noteSent();
    return tell(channel, name, admission, this.#takeWritten());
  }

  /** There is something to read for others. */
  notify(places: readonly Place[] = []): void {
    for (const place of places) this.#written.set(place.runId, place);
    if (this.#gathering !== null || this.#isClosed) return;
    const wait = this.#waitMs;
    if (wait <= 0) this.#send();
    else this.#gathering = setTimeout(() => this.#send(), wait + RIDE_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#reads.close();
    this.#looks.close();
    await this.#sending;
    await this.#unlisten?.().catch(() => {});
  }

  /** Until the next notification may go out. */
  get #waitMs(): number {
    return this.#lastSentAt + GATHER_MS - this.#ports.elapsedMs();
  }

  #noteSent(): void {
    this.#lastSentAt = this.#ports.elapsedMs();
    this.#sentAt ??= this.#lastSentAt;
  }

  #takeWritten(): readonly Place[] {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    const written = [...this.#written.values()];
    this.#written.clear();
    return written;
  }

  #send(): void {
    const { queries, channel, name } = this.#ports;
    this.#noteSent();
    const said = say(name, this.#takeWritten());
    // Whoever is not told looks by itself.
    this.#sending = queries.rows(NOTIFY, [channel, said]).catch(() => {});
  }

  async #listen(): Promise<void> {
    const { listener, channel } = this.#ports;
    try {
      const unlisten = await listener.listen(
        channel,
        (said) => this.#heard(hear(said)),
        // Called again after each reconnection: meanwhile something may have been missed.
        () => {
          this.#looks.ask(GATHER_MS);
          this.notify();
        },
      );
      this.#unlisten = unlisten;
      if (this.#isClosed) await unlisten();
    } catch (error) {
      if (!this.#isClosed) this.#ports.onFault(error);
    }
  }

  #heard({ name, places, news }: Heard): void {
    if (name === this.#ports.name) {
      this.#isHearing = true;
      this.#sentAt = null;
      return;
    }
    if (places === null) {
      this.#looks.ask(GATHER_MS);
      return;
    }
    const wanted = places.filter((place) => this.#ports.isWanted(place));
    const isTold = news !== null && wanted.length > 0 && this.#ports.tellNews(news);
    if (!isTold) for (const { contextId } of wanted) this.#wanted.add(contextId);
    if (!isTold && wanted.length > 0) this.#reads.ask(GATHER_MS);
    // What is read by itself needs no look soon.
    const isServed = wanted.length > 0 && wanted.length === places.length;
    this.#looks.ask(isServed ? this.#looks.sinceMs + PATIENT_MS : PATIENT_MS);
  }

  async #readWanted(): Promise<void> {
    const contexts = [...this.#wanted];
    this.#wanted.clear();
    await this.#unlessFaulty(() => this.#ports.readContexts(contexts));
  }

  async #lookNow(): Promise<void> {
    const wasBehind = this.#isBehind;
    this.#isBehind = (await this.#unlessFaulty(this.#ports.look)) ?? false;
    if (this.#isBehind) this.#looks.ask(wasBehind ? PATIENT_MS : this.#looks.sinceMs + SETTLE_MS);
  }

  async #unlessFaulty<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!this.#isClosed) this.#ports.onFault(error);
      return undefined;
    }
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const isLate = this.#sentAt !== null && this.#ports.elapsedMs() - this.#sentAt > ECHO_MS;
    if (isLate) this.#isHearing = false;
    this.#timer = setTimeout(
      () => {
        this.#looks.ask(GATHER_MS);
        this.#schedule();
      },
      this.#isHearing ? LOOK_MS : LOOK_DEAF_MS,
    );
    this.#timer.unref();
  }
}
