/**
 * Sends push notifications, on the one node of the cluster that holds the lease for it. A notification holds the task as
 * it is when it is sent, so that a receiver which was away gets one, not all that it missed, and never an older state
 * after a newer one.
 */
import type { ContextId, TaskEventKind } from '@cairn/protocol';
import { v1Task } from '../../../bridges/a2a/v1.ts';
import { v03Task } from '../../../bridges/a2a/v03.ts';
import type { Report, Timers } from '../../../engine/ports.ts';
import type { Commit } from '../../../log/ports/event-log.ts';
import type { Store } from '../../../log/ports/store.ts';
import type { SubscriptionRecord } from '../../../log/ports/subscriptions.ts';
import { kindOf } from '../../../log/tasks/face-columns.ts';
import type { HeldLease, Part } from '../../cluster/cluster-job.ts';
import type { Egress } from '../../egress/egress.ts';
import type { Keys } from '../../secrets/host-secret.ts';
import { backoffMs } from '../../webhooks/pump.ts';
import { post } from '../../webhooks/sender.ts';
import { StateKeeper } from '../../webhooks/state-keeper.ts';
import { type A2aTasks, shownTask } from '../tasks.ts';
import { PUSH, type PushConfig, type PushState, parsePushConfig, parsePushState, secretHeaders } from './config.ts';
import { TenantQueues } from './tenant-queues.ts';

export interface PushDeliveryPorts {
  readonly store: Pick<Store, 'log' | 'subscriptions'>;
  readonly tasks: Pick<A2aTasks, 'read'>;
  readonly egress: Egress;
  /** Seal the headers of configurations. */
  readonly keys: Keys;
  readonly timers: Timers;
  readonly report: Report;
  /** The version of this program. */
  readonly version: string;
}

/** Notifications of a tenant that are sent at the same time. */
const MAX_IN_FLIGHT = 4;
/** Attempts before a configuration is removed: one and a half hours. */
const MAX_ATTEMPTS = 8;

/** Kinds of events that can change the status that a peer sees. */
const statusKinds: ReadonlySet<TaskEventKind | null> = new Set<TaskEventKind>([
  'task-status',
  'task-complete',
  'input-required',
  'input-received',
  'input-forwarded',
  'auth-required',
  'auth-completed',
]);

interface Entry {
  readonly id: string;
  readonly tenant: string;
  /** As it is stored, so that one which takes its place is told apart. */
  readonly body: string;
  readonly config: PushConfig;
  state: PushState;
  /** The status may have changed since it was last read. */
  hasNews: boolean;
  /** It waits for its turn, is being sent, or waits after a failure. */
  isBusy: boolean;
  cancelRetry: (() => void) | null;
}

export class PushDeliveries implements Part {
  readonly #ports: PushDeliveryPorts;
  readonly #lease: HeldLease;
  readonly #keeper: StateKeeper;
  readonly #entries = new Map<string, Entry>();
  readonly #byContext = new Map<ContextId, Set<Entry>>();
  readonly #tenants = new TenantQueues<Entry>(MAX_IN_FLIGHT, (entry) => this.#attempt(entry));
  readonly #stop = new AbortController();
  readonly #unfollow: () => void;
  #loading: Promise<void> = Promise.resolve();

  constructor(ports: PushDeliveryPorts, lease: HeldLease) {
    const { log, subscriptions } = ports.store;
    this.#ports = ports;
    this.#lease = lease;
    this.#keeper = new StateKeeper({ ...ports, save: (id, state) => subscriptions.saveState(id, state, lease.fence) });
    this.#unfollow = log.follow((commit) => this.#heard(commit), {
      waits: ({ contextId }) => this.#byContext.has(contextId),
    });
  }

  /** Sends new receivers what they have missed, and drops those that were removed. */
  reload(): Promise<void> {
    const next = this.#loading.then(() => this.#reload());
    this.#loading = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#unfollow();
    for (const { cancelRetry } of this.#entries.values()) cancelRetry?.();
    await this.#loading;
    await this.#tenants.close();
    await this.#keeper.flush();
    this.#keeper.close();
  }

  async #reload(): Promise<void> {
    const kept = await this.#ports.store.subscriptions.list(PUSH);
    if (this.#stop.signal.aborted) return;
    const bodies = new Map(kept.map(({ id, body }) => [id, body]));
    for (const entry of [...this.#entries.values()]) if (bodies.get(entry.id) !== entry.body) this.#forget(entry);
    for (const record of kept) if (!this.#entries.has(record.id)) this.#added(record);
  }

  async #remove(entry: Entry): Promise<void> {
    this.#forget(entry);
    await this.#ports.store.subscriptions.drop(entry.tenant, entry.id);
  }

  #added(record: SubscriptionRecord): void {
    const config = parsePushConfig(record);
    const { id, tenant, body } = record;
    const about = { id, tenant, body, config, state: parsePushState(record.state) };
    const entry: Entry = { ...about, hasNews: false, isBusy: false, cancelRetry: null };
    this.#entries.set(entry.id, entry);
    const inContext = this.#byContext.get(config.contextId) ?? new Set();
    this.#byContext.set(config.contextId, inContext.add(entry));
    this.#tell(entry);
  }

  #forget(entry: Entry): void {
    entry.cancelRetry?.();
    if (!this.#entries.delete(entry.id)) return;
    const inContext = this.#byContext.get(entry.config.contextId);
    inContext?.delete(entry);
    if (inContext?.size === 0) this.#byContext.delete(entry.config.contextId);
  }

  /** Runs inside every commit. */
  #heard({ contextId, rows }: Commit): void {
    const entries = this.#byContext.get(contextId);
    if (entries === undefined || !rows.some(({ face }) => statusKinds.has(kindOf(face)))) return;
    for (const entry of entries) this.#tell(entry);
  }

  #tell(entry: Entry): void {
    entry.hasNews = true;
    if (entry.isBusy || this.#stop.signal.aborted) return;
    entry.isBusy = true;
    this.#tenants.add(entry.tenant, entry);
  }

  async #attempt(entry: Entry): Promise<void> {
    if (!this.#isHere(entry)) return;
    entry.hasNews = false;
    try {
      const reason = await this.#sent(entry);
      if (reason !== null) return this.#failed(entry, reason);
    } catch (error) {
      if (!this.#isHere(entry)) return;
      this.#ports.report({ level: 'warn', event: 'a2a.push_failed', facts: { subscription: entry.id }, error });
      return this.#failed(entry, 'an internal error');
    }
    entry.isBusy = false;
    if (entry.hasNews) this.#tell(entry);
  }

  /** Why the receiver did not take it; null if it did, or there is nothing to tell. */
  async #sent(entry: Entry): Promise<string | null> {
    const { config, state } = entry;
    if (!this.#lease.isHeld()) return 'another node delivers';
    const head = await this.#ports.store.log.head(config.taskId);
    if (head === null) {
      await this.#remove(entry);
      return null;
    }
    const followed = await this.#ports.tasks.read(head.record);
    const isOver = followed.phase === 'over';
    if (followed.changes > state.sent) {
      const task = shownTask(followed, undefined);
      const body = JSON.stringify(config.version === '1.0' ? { task: v1Task(task) } : v03Task(task));
      const headers = { ...headersOf(config, this.#ports.version), ...secretHeaders(this.#ports.keys, config) };
      const attempt = await post(this.#ports.egress, { url: config.url, headers, body }, this.#stop.signal);
      if (attempt.kind === 'failed') return this.#isHere(entry) ? attempt.reason : null;
      this.#keep(entry, { sent: followed.changes, attempts: 0 });
    }
    if (isOver && this.#isHere(entry)) await this.#remove(entry);
    return null;
  }

  async #failed(entry: Entry, reason: string): Promise<void> {
    const attempts = entry.state.attempts + 1;
    this.#keep(entry, { ...entry.state, attempts });
    if (attempts < MAX_ATTEMPTS) {
      entry.cancelRetry = this.#ports.timers.after(backoffMs(attempts), () => {
        entry.cancelRetry = null;
        this.#tenants.add(entry.tenant, entry);
      });
      return;
    }
    const facts = { subscription: entry.id, runId: entry.config.taskId, attempts, reason };
    this.#ports.report({ level: 'warn', event: 'a2a.push_abandoned', facts });
    await this.#remove(entry).catch(() => undefined);
  }

  #keep(entry: Entry, state: PushState): void {
    entry.state = state;
    if (this.#isHere(entry)) this.#keeper.changed(entry.id, () => JSON.stringify(entry.state));
  }

  /** It was neither removed nor replaced, and the host goes on. */
  #isHere(entry: Entry): boolean {
    return !this.#stop.signal.aborted && this.#entries.get(entry.id) === entry;
  }
}

const headersOf = ({ version }: PushConfig, program: string) => ({
  'content-type': version === '1.0' ? 'application/a2a+json' : 'application/json',
  'a2a-version': version,
  'user-agent': `cairn/${program}`,
});
