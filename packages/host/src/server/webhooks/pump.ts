/** Delivers the events of one subscription: a durable log position, parallel runs, retries and a circuit breaker. */
import { setImmediate } from 'node:timers/promises';
import type { DeadLetter } from '@cairn/protocol';
import type { Report, Timers } from '../../engine/ports.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { afterFailure, afterSetback, afterSuccess, type Circuit, gateOf } from './circuit.ts';
import { type DeliveryState, KEPT_DEAD_LETTERS, parseState, renderState } from './delivery-state.ts';
import { type Lane, Lanes } from './lanes.ts';
import type { ReplayedRuns } from './replayed-runs.ts';
import type { SendResult } from './sender.ts';
import type { StateKeeper } from './state-keeper.ts';

export interface Policy {
  /** Attempts at one row before it is abandoned. */
  readonly maxAttempts: number;
  /** Concurrent attempts. */
  readonly maxInFlight: number;
  /** Rows to read ahead; the rest wait in the log. */
  readonly window: number;
  /** All rows go to one receiver, so its failures share one circuit. */
  readonly isOneReceiver: boolean;
}

export interface PumpSubscription {
  readonly id: string;
  readonly tenant: string;
  readonly types: readonly string[];
  readonly policy: Policy;
  /** Must not throw when the receiver fails; a thrown error is a fault of the host. */
  deliver(row: Row, signal: AbortSignal): Promise<SendResult>;
}

export interface PumpPorts {
  readonly store: Pick<Store, 'log' | 'changes'>;
  readonly replays: ReplayedRuns;
  readonly keeper: StateKeeper;
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
  readonly mayDeliver: () => boolean;
}

/** Rows per log read: many in a quiet log, few enough not to delay others. */
const LOOKED_AT = { least: 64, most: 1_000 };

/** The position is saved after this many reads without a matching row. */
const QUIET_READS = 32;

/** Delay after a fault of the host. */
const TROUBLE_MS = 5_000;

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 3_600_000;

/** 1 s, 4 s, 16 s and so on up to an hour. */
export const backoffMs = (attempts: number): number =>
  Math.min(FIRST_BACKOFF_MS * 4 ** (attempts - 1), LONGEST_BACKOFF_MS);

export class Pump {
  readonly #subscription: PumpSubscription;
  readonly #ports: PumpPorts;
  readonly #lanes: Lanes;
  readonly #stop = new AbortController();
  readonly #timers = new Set<() => void>();
  readonly #underWay = new Set<Promise<void>>();
  #sending = 0;
  #position: string;
  #circuit: Circuit;
  #delivered: number;
  #lastError: string | null;
  #deadLetters: readonly DeadLetter[];
  /** The log may have rows beyond the position. */
  #isBehind = true;
  #reading = false;
  #quietReads = 0;
  /** Set while the pump waits after a failed log read. */
  #inTrouble = false;
  #cancelReopening: (() => void) | null = null;

  constructor(subscription: PumpSubscription, state: string, ports: PumpPorts) {
    const { position, pending, circuit, delivered, lastError, deadLetters } = parseState(state);
    this.#subscription = subscription;
    this.#ports = ports;
    this.#lanes = new Lanes(pending);
    this.#position = position;
    this.#circuit = circuit;
    this.#delivered = delivered;
    this.#lastError = lastError;
    this.#deadLetters = deadLetters;
  }

  get state(): DeliveryState {
    return {
      position: this.#position,
      pending: this.#lanes.pending,
      circuit: this.#circuit,
      delivered: this.#delivered,
      lastError: this.#lastError,
      deadLetters: this.#deadLetters,
    };
  }

  /** Call when the log may have new rows. */
  nudge(): void {
    this.#isBehind = true;
    this.#work();
  }

  /** Aborts attempts in flight, which count neither as delivered nor as failed, and saves the progress. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    await Promise.all(this.#underWay);
    this.#save();
    await this.#ports.keeper.flush();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted || this.#gate === 'failed';
  }

  get #gate(): ReturnType<typeof gateOf> {
    return gateOf(this.#circuit, this.#ports.now());
  }

  #work(): void {
    if (this.#isStopped) return;
    if (this.#isBehind && !this.#reading && !this.#inTrouble) this.#track(this.#read());
    this.#send();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  async #read(): Promise<void> {
    const { store, report } = this.#ports;
    const { tenant, types, policy, id } = this.#subscription;
    this.#reading = true;
    try {
      while (this.#isBehind && !this.#isStopped && this.#lanes.size < policy.window) {
        // Cleared before the read, so that rows arriving during the read set it again.
        this.#isBehind = false;
        const page = await store.changes.read({
          after: this.#position,
          limit: Math.min(Math.max(policy.window - this.#lanes.size, LOOKED_AT.least), LOOKED_AT.most),
          filter: { tenant, types },
          isForPlaces: true,
        });
        if (page.position !== this.#position) this.#isBehind = true;
        this.#position = page.position;
        for (const { runId, seq } of await this.#ports.replays.without(page.rows)) this.#lanes.add({ runId, seq });
        this.#noteRead(page.rows.length);
        this.#send();
        // A store may answer within the same turn. Yield, so that a long log does not block the event loop.
        await setImmediate();
      }
    } catch (error) {
      report({ level: 'warn', event: 'webhook.read_failed', facts: { subscription: id }, error });
      this.#isBehind = true;
      this.#inTrouble = true;
      this.#after(TROUBLE_MS, () => {
        this.#inTrouble = false;
        this.#work();
      });
    } finally {
      this.#reading = false;
    }
  }

  #noteRead(found: number): void {
    this.#quietReads = found > 0 ? 0 : this.#quietReads + 1;
    if (found > 0 || this.#quietReads >= QUIET_READS) {
      this.#quietReads = 0;
      this.#save();
    }
  }

  #send(): void {
    while (this.#mayMore()) {
      const lane = this.#lanes.take();
      if (lane === undefined) return;
      this.#sending += 1;
      this.#track(this.#attempt(lane));
    }
  }

  #mayMore(): boolean {
    if (this.#isStopped || !this.#ports.mayDeliver()) return false;
    const gate = this.#gate;
    if (gate === 'open') {
      this.#awaitReopening();
      return false;
    }
    return this.#sending < (gate === 'probe' ? 1 : this.#subscription.policy.maxInFlight);
  }

  #awaitReopening(): void {
    if (this.#cancelReopening !== null || this.#circuit.openUntil === null) return;
    this.#cancelReopening = this.#after(this.#circuit.openUntil - this.#ports.now(), () => {
      this.#cancelReopening = null;
      this.#work();
    });
  }

  async #attempt(lane: Lane): Promise<void> {
    const { report } = this.#ports;
    const { id } = this.#subscription;
    let attempt: SendResult | null = null;
    try {
      attempt = await this.#deliver(lane);
    } catch (error) {
      report({ level: 'warn', event: 'webhook.delivery_failed', facts: { subscription: id }, error });
    }
    this.#sending -= 1;
    const isTaken = attempt !== null && attempt.kind !== 'failed';
    // A delivery that the receiver accepted during shutdown still counts.
    if (this.#stop.signal.aborted && !isTaken) return;
    if (attempt === null) this.#after(TROUBLE_MS, () => this.#retry(lane));
    else if (attempt.kind === 'failed') this.#failed(lane, attempt.reason);
    else this.#succeeded(lane, attempt.kind === 'delivered');
    this.#work();
  }

  async #deliver({ runId, seqs }: Lane): Promise<SendResult> {
    const seq = seqs[0] as number;
    const [row] = await this.#ports.store.log.read({ runId, after: seq - 1, limit: 1, isForFrames: true });
    // Retention may have deleted the row since it was read.
    if (row?.seq !== seq) return { kind: 'skipped' };
    return this.#subscription.deliver(row, this.#stop.signal);
  }

  #succeeded(lane: Lane, isDelivered: boolean): void {
    if (isDelivered) {
      this.#delivered += 1;
      this.#circuit = afterSuccess(this.#circuit);
    }
    this.#lanes.done(lane);
    this.#save();
  }

  #failed(lane: Lane, reason: string): void {
    const now = this.#ports.now();
    const { policy } = this.#subscription;
    const before = this.#gate;
    this.#lastError = reason;
    if (policy.isOneReceiver) this.#circuit = afterFailure(this.#circuit, now);
    lane.attempts += 1;
    if (lane.attempts >= policy.maxAttempts) this.#giveUp(lane, reason);
    else this.#after(backoffMs(lane.attempts), () => this.#retry(lane));
    this.#tellChange(before, reason);
    this.#save();
  }

  #retry(lane: Lane): void {
    this.#lanes.again(lane);
    this.#work();
  }

  #giveUp(lane: Lane, reason: string): void {
    const now = this.#ports.now();
    const { runId, seqs, attempts } = lane;
    const { id, policy } = this.#subscription;
    const sequence = seqs[0] as number;
    const letter = { runId, sequence, attempts, lastError: reason, at: new Date(now).toISOString() };
    this.#deadLetters = [...this.#deadLetters, letter].slice(-KEPT_DEAD_LETTERS);
    if (policy.isOneReceiver) this.#circuit = afterSetback(this.#circuit, now);
    const facts = { subscription: id, runId, sequence, attempts, reason };
    this.#ports.report({ level: 'warn', event: 'webhook.delivery_abandoned', facts });
    this.#lanes.done(lane);
  }

  /** Reports once per state change, not once per attempt. */
  #tellChange(before: ReturnType<typeof gateOf>, reason: string): void {
    const after = this.#gate;
    if (after === before || (after !== 'open' && after !== 'failed')) return;
    const facts = { subscription: this.#subscription.id, reason };
    if (after === 'open') this.#ports.report({ level: 'warn', event: 'webhook.paused', facts });
    else this.#ports.report({ level: 'warn', event: 'webhook.stopped', facts });
  }

  #save(): void {
    this.#ports.keeper.changed(this.#subscription.id, () => renderState(this.state));
  }

  #after(ms: number, wake: () => void): () => void {
    const cancel = this.#ports.timers.after(ms, () => {
      this.#timers.delete(cancel);
      wake();
    });
    this.#timers.add(cancel);
    return cancel;
  }
}
