/** The webhooks of all tenants: registers, delivers in the background, and removes them. */
import { createHmac, hash } from 'node:crypto';
import {
  isoTime,
  quoted,
  type RegisterWebhook,
  TerminalError,
  type Webhook,
  type WebhookRegistered,
} from '@cairn/protocol';
import type { Report, Timers, UniqueId } from '../../engine/ports.ts';
import { docText } from '../../log/feed/frame.ts';
import type { Commit } from '../../log/ports/event-log.ts';
import type { RequestKey } from '../../log/ports/idempotency.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import type { SubscriptionRecord } from '../../log/ports/subscriptions.ts';
import { thereIsNo } from '../http/unknown-id.ts';
import type { DeriveKeys, Keys } from '../secrets/host-secret.ts';
import { type CallbackPorts, callbackPolicy, callbackTypes, tellCallback } from './callbacks.ts';
import { gateOf } from './circuit.ts';
import { type Attempt, type Policy, Pump } from './pump.ts';
import { ReplayedRuns } from './replayed-runs.ts';
import { type SenderPorts, send } from './sender.ts';
import { secretFingerprint } from './signature.ts';
import { StateKeeper } from './state-keeper.ts';
import {
  type Agreement,
  CALLBACKS,
  callbacksRecord,
  newWebhook,
  parseAgreement,
  secretOf,
  WEBHOOK,
} from './subscriptions.ts';

export interface WebhookPorts extends Omit<CallbackPorts, 'secretOf'> {
  readonly store: Pick<Store, 'log' | 'subscriptions'>;
  readonly deriveKeys: DeriveKeys;
  readonly timers: Timers;
  readonly uniqueId: UniqueId;
  readonly report: Report;
}

/** Retries last about a day: see `backoffMs` and `OPEN_MS`. */
export const webhookPolicy: Policy = { maxAttempts: 28, maxInFlight: 8, window: 256, isOneReceiver: true };

/** Maximum number of webhooks per tenant. */
export const MAX_WEBHOOKS = 50;

/**
 * After this many rows, every pump reads the log, even without matching events. This bounds the catch-up after a
 * restart.
 */
const ALL_LOOK_AFTER = 10_000;

/** Commits are batched for this long before the pumps read the log. */
const GATHER_MS = 10;

interface Entry {
  readonly record: SubscriptionRecord;
  readonly types: ReadonlySet<string>;
  readonly agreement: Agreement | null;
  readonly pump: Pump;
}

export class Webhooks {
  readonly #ports: WebhookPorts;
  readonly #keys: Keys;
  readonly #callbackKeys: Keys;
  readonly #keeper: StateKeeper;
  readonly #replays: ReplayedRuns;
  readonly #entries = new Map<string, Entry>();
  /** One entry per tenant with callbacks; resolves once the subscription is stored. */
  readonly #callbacks = new Map<string, Promise<void>>();
  /** Webhooks per tenant that are being stored: they count towards the limit before they are listed. */
  readonly #arriving = new Map<string, number>();
  readonly #news = new Set<string>();
  #rowsSinceLook = 0;
  #cancelGathering: (() => void) | null = null;
  #unfollow: () => void = () => {};
  #closed = false;

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
    this.#keys = ports.deriveKeys('webhook-secret');
    this.#callbackKeys = ports.deriveKeys('callback-secret');
    const { subscriptions } = ports.store;
    this.#replays = new ReplayedRuns(ports.store.log);
    this.#keeper = new StateKeeper({ ...ports, save: (id, state) => subscriptions.saveState(id, state) });
  }

  /** Resumes delivery of all stored subscriptions. */
  async open(): Promise<void> {
    const { subscriptions, log } = this.#ports.store;
    this.#unfollow = log.follow((commit) => this.#heard(commit));
    const kept = [...(await subscriptions.list(WEBHOOK)), ...(await subscriptions.list(CALLBACKS))];
    for (const record of kept) {
      if (record.kind === CALLBACKS) this.#callbacks.set(record.tenant, Promise.resolve());
      this.#start(record);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unfollow();
    this.#cancelGathering?.();
    await Promise.all([...this.#entries.values()].map(({ pump }) => pump.close()));
    this.#entries.clear();
    this.#keeper.close();
  }

  /**
   * A request with an idempotency key derives the webhook id from it. A retry after a crash finds the existing webhook.
   */
  async register(tenant: string, request: RegisterWebhook, requestKey?: RequestKey): Promise<WebhookRegistered> {
    const id = `wh_${requestKey === undefined ? this.#ports.uniqueId() : nameFrom(tenant, requestKey)}`;
    const known = this.#ofTenant(tenant).find(({ record }) => record.id === id);
    if (known !== undefined) return registered(id, secretOf(this.#keys, id, known.agreement));
    const arriving = this.#arriving.get(tenant) ?? 0;
    if (this.#ofTenant(tenant).length + arriving >= MAX_WEBHOOKS) throw tooMany(tenant);
    this.#arriving.set(tenant, arriving + 1);
    try {
      return await this.#registered(id, tenant, request);
    } finally {
      const left = (this.#arriving.get(tenant) ?? 0) - 1;
      if (left > 0) this.#arriving.set(tenant, left);
      else this.#arriving.delete(tenant);
    }
  }

  async #registered(id: string, tenant: string, request: RegisterWebhook): Promise<WebhookRegistered> {
    const { store, now } = this.#ports;
    const position = await store.log.end();
    const { record, secret } = newWebhook(this.#keys, { id, tenant, request, now: now(), position });
    await store.subscriptions.put(record);
    this.#start(record);
    return registered(id, secret);
  }

  list(tenant: string): readonly Webhook[] {
    const now = this.#ports.now();
    return this.#ofTenant(tenant).map(({ record, agreement, pump }) => shown(record.id, agreement, pump, now));
  }

  /** A delivery in flight may still arrive. */
  async remove(tenant: string, id: string): Promise<void> {
    const isWebhook = this.#ofTenant(tenant).some(({ record }) => record.id === id);
    if (!isWebhook || !(await this.#ports.store.subscriptions.drop(tenant, id))) throw unknown(id);
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    await entry?.pump.close();
  }

  /** Ensures that callbacks of the tenant's runs are delivered. Await it before such a run starts. */
  async expectCallbacks(tenant: string): Promise<void> {
    const known = this.#callbacks.get(tenant) ?? this.#openCallbacks(tenant);
    this.#callbacks.set(tenant, known);
    try {
      await known;
    } catch (error) {
      this.#callbacks.delete(tenant);
      throw error;
    }
  }

  async #openCallbacks(tenant: string): Promise<void> {
    const { log, subscriptions } = this.#ports.store;
    const record = callbacksRecord(tenant, await log.end());
    await subscriptions.put(record);
    this.#start(record);
  }

  callbackSecret(tenant: string): string {
    return createHmac('sha256', this.#callbackKeys[0]).update(tenant).digest('hex');
  }

  #ofTenant(tenant: string): readonly (Entry & { readonly agreement: Agreement })[] {
    return [...this.#entries.values()].filter(
      (entry): entry is Entry & { readonly agreement: Agreement } =>
        entry.record.tenant === tenant && entry.agreement !== null,
    );
  }

  #start(record: SubscriptionRecord): void {
    if (this.#closed) return;
    const { store, timers, now, report } = this.#ports;
    const agreement = record.kind === WEBHOOK ? parseAgreement(record) : null;
    const types = agreement?.events ?? callbackTypes;
    const { id, tenant, state } = record;
    const deliver = agreement === null ? this.#tellCallback(record) : this.#tellWebhook(record, agreement);
    const policy = agreement === null ? callbackPolicy : webhookPolicy;
    const pump = new Pump({ id, tenant, types, policy, deliver }, state, {
      log: store.log,
      replays: this.#replays,
      keeper: this.#keeper,
      timers,
      now,
      report,
    });
    this.#entries.set(id, { record, types: new Set(types), agreement, pump });
    pump.nudge();
  }

  #tellCallback(record: SubscriptionRecord) {
    const ports: CallbackPorts = { ...this.#ports, secretOf: (tenant) => this.callbackSecret(tenant) };
    return (row: Row, signal: AbortSignal): Promise<Attempt> => tellCallback(ports, record, row, signal);
  }

  #tellWebhook({ id, tenant }: SubscriptionRecord, agreement: Agreement) {
    const { log } = this.#ports.store;
    const ports: SenderPorts = this.#ports;
    return async (row: Row, signal: AbortSignal): Promise<Attempt> => {
      if (agreement.tags !== null) {
        const carried = (await log.head(row.runId))?.record.tags ?? [];
        if (!agreement.tags.some((tag) => carried.includes(tag))) return { kind: 'skipped' };
      }
      const body = `{"runId":${JSON.stringify(row.runId)},"workspaceId":${JSON.stringify(tenant)},"event":${docText(row)}}`;
      const secret = secretOf(this.#keys, id, agreement);
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

/** A different request with the same key gets a different id. */
const nameFrom = (tenant: string, { key, requestDigest }: RequestKey): string =>
  hash('sha256', JSON.stringify([tenant, key, requestDigest]), 'hex').slice(0, 32);

const registered = (webhookId: string, secret: string): WebhookRegistered => ({
  webhookId,
  secret,
  secretFingerprint: secretFingerprint(secret),
});

function shown(webhookId: string, agreement: Agreement, pump: Pump, now: number): Webhook {
  const { pending, delivered, circuit, lastError, deadLetters } = pump.state;
  const gate = gateOf(circuit, now);
  return {
    webhookId,
    url: agreement.url,
    events: agreement.events,
    ...(agreement.tags !== null && { tags: agreement.tags }),
    secretFingerprint: agreement.secretFingerprint,
    createdAt: isoTime(agreement.createdAt),
    state: gate === 'failed' ? 'failed' : gate === 'open' ? 'paused' : 'active',
    ...(gate === 'open' && circuit.openUntil !== null && { pausedUntil: isoTime(circuit.openUntil) }),
    pending: pending.length,
    delivered,
    ...(lastError !== null && { lastError }),
    deadLetters: [...deadLetters],
  };
}

const tooMany = (tenant: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The tenant ${quoted(tenant, 80)} has ${MAX_WEBHOOKS} webhooks, which is as many as it may.`,
    hint: 'Delete one that is not needed any more.',
    details: { maxWebhooks: MAX_WEBHOOKS },
  });

const unknown = (id: string): TerminalError =>
  new TerminalError('not_found', {
    message: thereIsNo('webhook', id, /^wh_[\w-]{1,80}$/.test(id)),
    hint: 'List the webhooks to see their ids.',
  });
