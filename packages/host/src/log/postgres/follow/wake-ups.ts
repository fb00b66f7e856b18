/**
 * Tells other nodes that there is something to read, and hears it from them. Off the path of writes: at once when it is
 * quiet, and once for all commits of 10 ms under load. A lost notification costs time, never events: each node also looks
 * by itself.
 */
import type { Pool } from '../database.ts';

const CHANNEL = 'cairn_commits';

/** Commits within this time share a notification, and notifications within it a look. */
const GATHER_MS = 10;

/** Until the first look for what was not settled at the last one. */
const SETTLE_MS = 2;

/** Between two looks without a notification; more often while none comes through, as behind a transaction pooler. */
const LOOK_MS = 1_000;
const LOOK_DEAF_MS = 100;

/** An own notification comes back within this time, or the way is closed. */
const ECHO_MS = 2_000;

/** The flush of this small transaction is nobody's concern. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1::text, $2::text)::text";

export interface WakeUpPorts {
  /** For notifications that go out. */
  readonly pool: Pool;
  /** A session of its own, straight to the database. */
  readonly listener: Pool;
  /** Names this node among those that notify. */
  readonly name: string;
  /** Looks for what others wrote. Resolves with whether there is more to come. */
  readonly look: () => Promise<boolean>;
  /** A look that failed. The next one is tried all the same. */
  readonly onFault: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number;
}

export class WakeUps {
  readonly #ports: WakeUpPorts;
  #gathering: NodeJS.Timeout | null = null;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #sentAt: number | null = null;
  /** Whether own notifications come back. */
  #isHearing = false;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #unlisten: (() => Promise<void>) | null = null;
  #sending: Promise<unknown> = Promise.resolve();
  #nextLook: NodeJS.Timeout | null = null;
  #lastLookAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #isAskedAgain = false;
  /** Whether the last look left something to come. */
  #isBehind = false;

  constructor(ports: WakeUpPorts) {
    this.#ports = ports;
  }

  open(): void {
    this.#schedule();
    void this.#listen();
  }

  /** There is something to read for others. */
  notify(): void {
    if (this.#gathering !== null || this.#isClosed) return;
    const wait = this.#lastSentAt + GATHER_MS - this.#ports.elapsedMs();
    if (wait <= 0) {
      this.#send();
      return;
    }
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      this.#send();
    }, wait);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#nextLook !== null) clearTimeout(this.#nextLook);
    await this.#sending;
    await this.#unlisten?.().catch(() => {});
  }

  #send(): void {
    const { pool, name, elapsedMs } = this.#ports;
    this.#lastSentAt = elapsedMs();
    this.#sentAt ??= this.#lastSentAt;
    // Whoever is not told looks by itself.
    this.#sending = pool.sql.unsafe(NOTIFY, [CHANNEL, name], { prepare: true }).catch(() => {});
  }

  async #listen(): Promise<void> {
    const { listener } = this.#ports;
    try {
      const { unlisten } = await listener.sql.listen(
        CHANNEL,
        (name) => this.#heard(name),
        // Called again after each reconnection: meanwhile something may have been missed.
        () => {
          this.#look();
          this.notify();
        },
      );
      this.#unlisten = unlisten;
      if (this.#isClosed) await unlisten();
    } catch (error) {
      if (!this.#isClosed) this.#ports.onFault(error);
    }
  }

  #heard(name: string): void {
    if (name !== this.#ports.name) {
      this.#look();
      return;
    }
    this.#isHearing = true;
    this.#sentAt = null;
  }

  /** At once when it is quiet. */
  #look(waitMs = this.#lastLookAt + GATHER_MS - this.#ports.elapsedMs()): void {
    this.#isAskedAgain = this.#isLooking;
    if (this.#isClosed || this.#isLooking || this.#nextLook !== null) return;
    if (waitMs <= 0) {
      void this.#lookNow();
      return;
    }
    this.#nextLook = setTimeout(() => {
      this.#nextLook = null;
      void this.#lookNow();
    }, waitMs);
  }

  async #lookNow(): Promise<void> {
    const { look, elapsedMs, onFault } = this.#ports;
    this.#isLooking = true;
    this.#lastLookAt = elapsedMs();
    const wasBehind = this.#isBehind;
    try {
      this.#isBehind = await look();
    } catch (error) {
      this.#isBehind = false;
      if (!this.#isClosed) onFault(error);
    }
    this.#isLooking = false;
    if (this.#isBehind && !wasBehind) this.#look(SETTLE_MS);
    else if (this.#isBehind || this.#isAskedAgain) this.#look();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const isLate = this.#sentAt !== null && this.#ports.elapsedMs() - this.#sentAt > ECHO_MS;
    if (isLate) this.#isHearing = false;
    this.#timer = setTimeout(
      () => {
        this.#look();
        this.#schedule();
      },
      this.#isHearing ? LOOK_MS : LOOK_DEAF_MS,
    );
    this.#timer.unref();
  }
}
