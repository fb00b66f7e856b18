/** Delivers the events of all subscriptions, on the one node of the cluster that holds the lease for it. */
import type { Report, Timers } from '../../engine/ports.ts';
import { docText } from '../../log/feed/frame.ts';
import type { Commit } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import type { SubscriptionRecord } from '../../log/ports/subscriptions.ts';
import type { HeldLease, Part } from '../cluster/cluster-job.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { type CallbackPorts, callbackPolicy, callbackTypes, tellCallback } from './callbacks.ts';
import type { DeliveryState } from './delivery-state.ts';
import { type Policy, Pump } from './pump.ts';
import { ReplayedRuns } from './replayed-runs.ts';
import { type SenderPorts, type SendResult, send } from './sender.ts';
import { StateKeeper } from './state-keeper.ts';
import { type Agreement, CALLBACKS, parseAgreement, secretOf, WEBHOOK } from './subscriptions.ts';

export interface DeliveryPorts extends CallbackPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'subscriptions'>;
  readonly timers: Timers;
  readonly report: Report;
  /** Seal the secrets of webhooks. */
  readonly keys: Keys;
}

/** Retries last about a day: see `backoffMs` and `OPEN_MS`. */
export const webhookPolicy: Policy = { maxAttempts: 28, maxInFlight: 8, window: 256, isOneReceiver: true };

/**
 * After this many rows, every pump reads the log, even without matching events. This bounds the catch-up after a
 * restart.
 */
const ALL_LOOK_AFTER = 10_000;

/** Commits are batched for this long before the pumps read the log. */
const GATHER_MS = 10;

interface Entry {
  readonly types: ReadonlySet<string>;
  readonly pump: Pump;
}

export class Deliveries implements Part {
  readonly #ports: DeliveryPorts;
  readonly #lease: HeldLease;
  readonly #keeper: StateKeeper;
  readonly #replays: ReplayedRuns;
  readonly #entries = new Map<string, Entry>();
  readonly #news = new Set<string>();
  readonly #unfollow: () => void;
  #rowsSinceLook = 0;
  #cancelGathering: (() => void) | null = null;
  #loading: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(ports: DeliveryPorts, lease: HeldLease) {
    const { log, subscriptions } = ports.store;
    this.#ports = ports;
    this.#lease = lease;
    this.#replays = new ReplayedRuns(log);
    this.#keeper = new StateKeeper({ ...ports, save: (id, state) => subscriptions.saveState(id, state, lease.fence) });
    // Rows are counted, whatever they are.
    this.#unfollow = log.follow((commit) => this.#heard(commit), {
      types: () => (this.#entries.size === 0 ? [] : null),
    });
  }

  /** Starts what was subscribed since the last time, and stops what was removed. */
  reload(): Promise<void> {
    const next = this.#loading.then(() => this.#reload());
    this.#loading = next.catch(() => undefined);
    return next;
  }

  /** How the deliveries of a subscription go; null if this node does not know it. */
  stateOf(id: string): DeliveryState | null {
    return this.#entries.get(id)?.pump.state ?? null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unfollow();
    this.#cancelGathering?.();
    await this.#loading;
    await Promise.all([...this.#entries.values()].map(({ pump }) => pump.close()));
    this.#entries.clear();
    this.#keeper.close();
  }

  async #reload(): Promise<void> {
    const { subscriptions } = this.#ports.store;
    const kept = [...(await subscriptions.list(WEBHOOK)), ...(await subscriptions.list(CALLBACKS))];
    if (this.#isClosed) return;
    for (const record of kept) if (!this.#entries.has(record.id)) this.#start(record);
    const ids = new Set(kept.map(({ id }) => id));
    const gone = [...this.#entries].filter(([id]) => !ids.has(id));
    for (const [id] of gone) this.#entries.delete(id);
    await Promise.all(gone.map(([, { pump }]) => pump.close()));
  }

  #start(record: SubscriptionRecord): void {
    const { store, timers, now, report } = this.#ports;
    const agreement = record.kind === WEBHOOK ? parseAgreement(record) : null;
    const types = agreement?.events ?? callbackTypes;
    const { id, tenant, state } = record;
    const deliver = agreement === null ? this.#tellCallback(record) : this.#tellWebhook(record, agreement);
    const policy = agreement === null ? callbackPolicy : webhookPolicy;
    const pump = new Pump({ id, tenant, types, policy, deliver }, state, {
      store,
      replays: this.#replays,
      keeper: this.#keeper,
      timers,
      now,
      report,
      mayDeliver: () => this.#lease.isHeld(),
    });
    this.#entries.set(id, { types: new Set(types), pump });
    pump.nudge();
  }

  #tellCallback(record: SubscriptionRecord) {
    return (row: Row, signal: AbortSignal): Promise<SendResult> => tellCallback(this.#ports, record, row, signal);
  }

  #tellWebhook({ id, tenant }: SubscriptionRecord, agreement: Agreement) {
    const { log } = this.#ports.store;
    const ports: SenderPorts = this.#ports;
    return async (row: Row, signal: AbortSignal): Promise<SendResult> => {
      if (agreement.tags !== null) {
        const carried = (await log.head(row.runId))?.record.tags ?? [];
        if (!agreement.tags.some((tag) => carried.includes(tag))) return { kind: 'skipped' };
      }
      const body = `{"runId":${JSON.stringify(row.runId)},"workspaceId":${JSON.stringify(tenant)},"event":${docText(row)}}`;
      const secret = secretOf(this.#ports.keys, id, agreement);
      return send(ports, { url: agreement.url, webhookId: id, eventType: row.type, secret, body }, signal);
    };
  }

  /** Runs inside every commit, so it only records which event types are new. */
  #heard({ rows }: Commit): void {
    if (this.#entries.size === 0) return;
    for (const { type } of rows) this.#news.add(type);
    this.#rowsSinceLook += rows.length;
    this.#cancelGathering ??= this.#ports.timers.after(GATHER_MS, () => {
      this.#cancelGathering = null;
      const news = [...this.#news];
      this.#news.clear();
      const isEverybody = this.#rowsSinceLook >= ALL_LOOK_AFTER;
      if (isEverybody) this.#rowsSinceLook = 0;
      for (const { types, pump } of this.#entries.values()) {
        if (isEverybody || news.some((type) => types.has(type))) pump.nudge();
      }
    });
  }
}
