/**
 * Claims runs that are due or were abandoned. Each node has one claim loop, armed for the next time a run may be due.
 */
import type { Claim } from '../../log/ports/queue.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Clock, Report } from '../ports.ts';

export interface SchedulerPorts {
  readonly store: Pick<Store, 'queue'>;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseMs: number;
  readonly report: Report;
  /** Number of runs held here. While it is above 0, the scheduler renews the session. */
  readonly held: () => number;
  /** Returns the claims that are to be adopted. The others are settled: a run of a node that died may have killed it. */
  readonly settle: (claims: readonly Claim[]) => Promise<readonly Claim[]>;
  readonly adopt: (claim: Claim) => void;
}

const CLAIM_LIMIT = 64;

/** Polling interval: another node may wake a run without notifying this one. */
const POLL_MS = 1_000;

export class Scheduler {
  readonly #ports: SchedulerPorts;
  #running: Promise<void> | null = null;
  #again = false;
  #closed = false;
  #alarm: { readonly at: number; readonly off: () => void } | null = null;
  /** The earliest wake requested while a round was in progress. */
  #asked = Number.POSITIVE_INFINITY;
  #renewOff: (() => void) | null = null;

  constructor(ports: SchedulerPorts) {
    this.#ports = ports;
  }

  /** Starts to renew the session and to claim runs. Resolves after the first round. */
  async open(): Promise<void> {
    await this.#renew();
    this.nudge();
    await this.#running;
  }

  /** Starts a round, because a run may be due now. */
  nudge(): void {
    if (this.#closed) return;
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    this.#disarm();
    this.#running = this.#round().finally(() => {
      this.#running = null;
      if (this.#again) {
        this.#again = false;
        this.nudge();
      }
    });
  }

  /** Requests a wake at this time, which may be earlier than the current alarm. */
  wakeBy(at: number): void {
    if (this.#closed) return;
    if (this.#running !== null) this.#asked = Math.min(this.#asked, at);
    else if (this.#alarm === null || at < this.#alarm.at) this.#arm(at);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#disarm();
    this.#renewOff?.();
  }

  async #round(): Promise<void> {
    const { clock, store, owner, leaseMs, report } = this.#ports;
    let next = clock.now() + POLL_MS;
    try {
      for (;;) {
        const due = await store.queue.due();
        const now = clock.now();
        if (this.#closed) return;
        if (due === null || due > now) {
          next = Math.min(next, due ?? next);
          break;
        }
        const claims = await store.queue.claim({ owner, now, until: now + leaseMs, limit: CLAIM_LIMIT });
        for (const claim of await this.#settled(claims)) this.#ports.adopt(claim);
        // Due but not claimable: the clock jumped, or another node was faster. The next poll tries again.
        if (claims.length === 0) break;
      }
    } catch (error) {
      report({ level: 'warn', event: 'queue.claim_failed', error });
    }
    if (!this.#closed) this.#arm(Math.min(next, this.#asked));
    this.#asked = Number.POSITIVE_INFINITY;
  }

  /** Most rounds claim due runs alone, which need no look at what killed their nodes. */
  async #settled(claims: readonly Claim[]): Promise<readonly Claim[]> {
    if (claims.every(({ former }) => former === undefined)) return claims;
    try {
      return await this.#ports.settle(claims);
    } catch (error) {
      this.#ports.report({ level: 'warn', event: 'queue.claim_failed', error });
      return claims;
    }
  }

  #arm(at: number): void {
    this.#disarm();
    this.#alarm = { at, off: this.#ports.clock.wakeAt(at, () => this.nudge()) };
  }

  #disarm(): void {
    this.#alarm?.off();
    this.#alarm = null;
  }

  /** Renews the session, which keeps every lease of this node, well before it expires and while runs are held. */
  async #renew(): Promise<void> {
    const { clock, store, owner, leaseMs, report, held } = this.#ports;
    if (this.#closed) return;
    if (held() > 0) {
      try {
        await store.queue.renew({ owner, until: clock.now() + leaseMs });
      } catch (error) {
        report({ level: 'warn', event: 'session.renew_failed', error });
      }
    }
    if (this.#closed) return;
    this.#renewOff = clock.wakeAt(clock.now() + leaseMs / 3, () => void this.#renew());
  }
}
