/**
 * Push notifications: tells receivers how their tasks are. A notification holds the task as it is when it is sent, so
 * that a receiver which was away gets one, not all that it missed, and never an older state after a newer one.
 */
import { type ContextId, quoted, type RunId, type TaskEventKind, TerminalError } from '@cairn/protocol';
import { v1Task } from '../../../bridges/a2a/v1.ts';
import { v03Task } from '../../../bridges/a2a/v03.ts';
import type { Report, Timers } from '../../../engine/ports.ts';
import type { Commit } from '../../../log/ports/event-log.ts';
import type { RunRecord } from '../../../log/ports/run-index.ts';
import type { Store } from '../../../log/ports/store.ts';
import type { SubscriptionRecord } from '../../../log/ports/subscriptions.ts';
import { kindOf } from '../../../log/tasks/face-columns.ts';
import type { Egress } from '../../egress/egress.ts';
import type { DeriveKeys, Keys } from '../../secrets/host-secret.ts';
import { backoffMs } from '../../webhooks/pump.ts';
import { post } from '../../webhooks/sender.ts';
import { StateKeeper } from '../../webhooks/state-keeper.ts';
import { type A2aTasks, shownTask } from '../tasks.ts';
import {
  type NewPush,
  newPushRecord,
  PUSH,
  type PushConfig,
  type PushState,
  parsePushConfig,
  parsePushState,
  pushRecordId,
  secretHeaders,
} from './config.ts';
import { TenantQueues } from './tenant-queues.ts';

export interface PushPorts {
  readonly store: Pick<Store, 'log' | 'subscriptions'>;
  readonly tasks: Pick<A2aTasks, 'read'>;
  readonly egress: Egress;
  readonly deriveKeys: DeriveKeys;
  readonly timers: Timers;
  readonly report: Report;
  /** The version of this program. */
  readonly version: string;
}

/** Configurations of one task. */
const MAX_OF_TASK = 10;
/** Configurations of one tenant. */
const MAX_OF_TENANT = 1_000;
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
  readonly config: PushConfig;
  state: PushState;
  /** The status may have changed since it was last read. */
  hasNews: boolean;
  /** It waits for its turn, is being sent, or waits after a failure. */
  isBusy: boolean;
  cancelRetry: (() => void) | null;
}

export class Pushes {
  readonly #ports: PushPorts;
  readonly #keys: Keys;
  readonly #keeper: StateKeeper;
  readonly #entries = new Map<string, Entry>();
  readonly #byContext = new Map<ContextId, Set<Entry>>();
  /** Configurations of each tenant. */
  readonly #counts = new Map<string, number>();
  readonly #tenants = new TenantQueues<Entry>(MAX_IN_FLIGHT, (entry) => this.#attempt(entry));
  readonly #stop = new AbortController();
  #changing: Promise<unknown> = Promise.resolve();
  #unfollow: () => void = () => {};

  constructor(ports: PushPorts) {
    this.#ports = ports;
    this.#keys = ports.deriveKeys('a2a-push');
    const { subscriptions } = ports.store;
    this.#keeper = new StateKeeper({ ...ports, save: (id, state) => subscriptions.saveState(id, state) });
  }

  /** Goes on where the last host stopped: tells what changed meanwhile. */
  async open(): Promise<void> {
    this.#unfollow = this.#ports.store.log.follow((commit) => this.#heard(commit));
    for (const record of await this.#ports.store.subscriptions.list(PUSH)) this.#added(record);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#unfollow();
    for (const { cancelRetry } of this.#entries.values()) cancelRetry?.();
    await this.#tenants.close();
    await this.#keeper.flush();
    this.#keeper.close();
  }

  /** Throws `conflict` if the tenant has as many as it may. */
  admit(tenant: string): void {
    if ((this.#counts.get(tenant) ?? 0) >= MAX_OF_TENANT)
      throw tooMany(`The tenant ${quoted(tenant, 80)}`, MAX_OF_TENANT);
  }

  /** One with the same id takes the place of the other. Throws `conflict` where one more does not fit. */
  set(push: NewPush): Promise<PushConfig> {
    return this.#alone(async () => {
      const { task } = push;
      const record = newPushRecord(this.#keys, push);
      const before = this.#entries.get(record.id);
      if (before === undefined) {
        this.admit(task.tenant);
        if (this.of(task).length >= MAX_OF_TASK) throw tooMany(`The task ${task.runId}`, MAX_OF_TASK);
      } else await this.#remove(before);
      await this.#ports.store.subscriptions.put(record);
      return this.#added(record);
    });
  }

  of({ runId, contextId }: Pick<RunRecord, 'runId' | 'contextId'>): readonly PushConfig[] {
    const configs = [...(this.#byContext.get(contextId) ?? [])].map(({ config }) => config);
    return configs.filter(({ taskId }) => taskId === runId);
  }

  /** Does nothing if there is none. A notification on its way may still arrive. */
  remove(taskId: RunId, configId: string): Promise<void> {
    return this.#alone(async () => {
      const entry = this.#entries.get(pushRecordId(taskId, configId));
      if (entry !== undefined) await this.#remove(entry);
    });
  }

  /** Changes come one after the other, so that none is counted twice. */
  #alone<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#changing.then(change);
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #remove(entry: Entry): Promise<void> {
    this.#forget(entry);
    await this.#ports.store.subscriptions.drop(entry.tenant, entry.id);
  }

  #added(record: SubscriptionRecord): PushConfig {
    const config = parsePushConfig(record);
    const about = { id: record.id, tenant: record.tenant, config, state: parsePushState(record.state) };
    const entry: Entry = { ...about, hasNews: false, isBusy: false, cancelRetry: null };
    this.#entries.set(entry.id, entry);
    this.#counts.set(entry.tenant, (this.#counts.get(entry.tenant) ?? 0) + 1);
    const inContext = this.#byContext.get(config.contextId) ?? new Set();
    this.#byContext.set(config.contextId, inContext.add(entry));
    this.#tell(entry);
    return config;
  }

  #forget(entry: Entry): void {
    entry.cancelRetry?.();
    if (!this.#entries.delete(entry.id)) return;
    const left = (this.#counts.get(entry.tenant) ?? 1) - 1;
    if (left > 0) this.#counts.set(entry.tenant, left);
    else this.#counts.delete(entry.tenant);
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
      const headers = { ...headersOf(config, this.#ports.version), ...secretHeaders(this.#keys, config) };
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

const tooMany = (what: string, max: number): TerminalError =>
  new TerminalError('conflict', {
    message: `${what} has ${max} push notification configurations, which is as many as it may.`,
    hint: 'Delete one that is not needed any more. Those of a task go when it has ended.',
    details: { max },
  });
