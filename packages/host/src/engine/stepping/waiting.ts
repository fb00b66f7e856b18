/** How a held run waits: with an alarm for its next timer, and under its lease while something may happen soon. */
import { awaitsEffects } from '../core/compose.ts';
import type { RunState } from '../core/state.ts';
import { nextTimer } from '../core/timers.ts';
import { hasChildren } from '../family/relatives.ts';
import type { Clock } from '../ports.ts';
import { Alarm } from './alarm.ts';
import { SHORT_WAIT_MS, type ShortWaits } from './short-waits.ts';

export interface WaitingPorts {
  readonly clock: Clock;
  readonly shortWaits: ShortWaits;
}

/** How long a run keeps its lease after a commit while children are running, because they may end soon. */
const LINGER_MS = 1_000;

export class Waiting {
  readonly #ports: WaitingPorts;
  readonly #alarm: Alarm;
  #committedAt = 0;
  /** What the run occupies of `shortWaits` while it waits for a near timer; null while it does not. */
  #short: { readonly until: number; readonly tenant: string; readonly bytes: number } | null = null;

  constructor(ports: WaitingPorts, wake: () => void) {
    this.#ports = ports;
    this.#alarm = new Alarm(ports.clock, wake);
  }

  /** Reserves room to wait for a near timer under the lease. Returns false if it is too far off or there is no room. */
  startShort(until: number, tenant: string, stateBytes: number): boolean {
    const { clock, shortWaits } = this.#ports;
    if (until - clock.now() >= SHORT_WAIT_MS || !shortWaits.enter(tenant, stateBytes)) return false;
    this.#short = { until, tenant, bytes: stateBytes };
    return true;
  }

  /** The run is decided again, or leaves memory. */
  endShort(): void {
    if (this.#short === null) return;
    this.#ports.shortWaits.leave(this.#short.tenant, this.#short.bytes);
    this.#short = null;
  }

  committed(): void {
    this.#committedAt = this.#ports.clock.now();
  }

  /** Sets the alarm and returns true if the run keeps its lease although it could rest. */
  lingers(state: RunState): boolean {
    if (this.#short !== null) {
      this.#alarm.set(this.#short.until);
      return true;
    }
    const until = this.#committedAt + LINGER_MS;
    if (state.ended || awaitsEffects(state) || !hasChildren(state) || this.#ports.clock.now() >= until) return false;
    this.#alarm.set(Math.min(until, nextTimer(state) ?? until));
    return true;
  }

  /** Only the holder watches the run's timers. */
  setAlarm(state: RunState): void {
    this.#alarm.set(nextTimer(state));
  }

  stop(): void {
    this.endShort();
    this.#alarm.set(null);
  }
}
