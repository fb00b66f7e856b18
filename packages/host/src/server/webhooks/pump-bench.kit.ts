/** A receiver, a log and a manual clock for delivery tests; not shipped. */

import type { ContextId, RunId } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { type DeliveryState, newDeliveryState, parseState, renderState } from './delivery-state.ts';
import { type Policy, Pump } from './pump.ts';
import { ReplayedRuns } from './replayed-runs.ts';
import type { SendResult } from './sender.ts';
import { StateKeeper } from './state-keeper.ts';

/** A clock that the test advances. */
class TestTime implements Timers {
  #now = 1_800_000_000_000;
  readonly #waiting = new Set<{ readonly at: number; readonly wake: () => void }>();

  readonly now = (): number => this.#now;

  after(ms: number, wake: () => void): () => void {
    const entry = { at: this.#now + ms, wake };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Advances the clock and fires the due timers in order. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turns();
      const next = [...this.#waiting].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#waiting.delete(next);
      next.wake();
    }
    this.#now = end;
    await turns();
  }
}

/** Yields to the event loop often enough for pending work to finish. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

const policy: Policy = { maxAttempts: 28, maxInFlight: 8, window: 256, isOneReceiver: true };

/** How the receiver answers a row. Default: it accepts. */
export type Receive = (place: string, signal: AbortSignal) => SendResult | Promise<SendResult>;

export const refuse: SendResult = { kind: 'failed', reason: 'the receiver answered 500' };
export const take: SendResult = { kind: 'delivered' };

/** One subscription to `a` events of tenant `t`, over an in-memory log. */
export class PumpBench {
  readonly store: Store;
  readonly time = new TestTime();
  readonly reports: string[] = [];
  /** Every attempt, as `run:seq`. */
  readonly attempts: string[] = [];
  receive: Receive = () => take;
  readonly policy: Policy;
  saved: string;
  saves = 0;
  failSaves = false;
  #pump: Pump | null = null;
  readonly #read: Pick<Store, 'log' | 'changes'>;
  /** Saves on the next turn of the event loop, independent of the test clock. */
  readonly #keeper = new StateKeeper({
    save: async (_id, state) => {
      if (this.failSaves) throw new Error('disk full');
      this.saves += 1;
      this.saved = state;
    },
    timers: {
      after: (_ms, wake) => {
        const turn = setImmediate(wake);
        return () => clearImmediate(turn);
      },
    },
    report: ({ event }) => void this.reports.push(event),
  });

  constructor(
    options: {
      readonly policy?: Partial<Policy>;
      readonly reads?: (store: Store) => Pick<Store, 'log' | 'changes'>;
    } = {},
  ) {
    this.store = inMemoryStore();
    this.#read = options.reads?.(this.store) ?? this.store;
    this.policy = { ...policy, ...options.policy };
    this.saved = renderState(newDeliveryState('0'));
  }

  get state(): DeliveryState {
    return parseState(this.saved);
  }

  get pump(): Pump {
    if (this.#pump === null) throw new Error('the pump was not started');
    return this.#pump;
  }

  /** Starts or restarts the pump from the saved state. */
  start(): Pump {
    const { time } = this;
    this.#pump = new Pump(
      {
        id: 'wh_1',
        tenant: 't',
        types: ['a'],
        policy: this.policy,
        deliver: async (row: Row, signal) => {
          const place = `${row.runId}:${row.seq}`;
          this.attempts.push(place);
          return this.receive(place, signal);
        },
      },
      this.saved,
      {
        store: this.#read,
        replays: new ReplayedRuns(this.#read.log),
        keeper: this.#keeper,
        mayDeliver: () => true,
        timers: time,
        now: time.now,
        report: ({ event }) => void this.reports.push(event),
      },
    );
    this.#pump.nudge();
    return this.#pump;
  }

  async run(name: string, tenant = 't'): Promise<void> {
    const runId = `run_${name}` as RunId;
    await this.store.log.append({
      runId,
      create: { tenant, contextId: `ctx_${name}` as ContextId, originRunId: runId },
      rows: [this.#row('run.started')],
    });
  }

  async write(name: string, ...types: readonly string[]): Promise<void> {
    await this.store.log.append({ runId: `run_${name}` as RunId, rows: types.map((type) => this.#row(type)) });
    this.#pump?.nudge();
  }

  #row(type: string) {
    return { at: 1_000, type, audience: 'client' as const, payload: '{}', task: null };
  }
}
