/** The webhooks of all tenants: registers, lists and removes them, on every node. One node delivers. */
import { createHmac, hash } from 'node:crypto';
import {
  isCairnError,
  isoTime,
  quoted,
  type RegisterWebhook,
  TerminalError,
  type Webhook,
  type WebhookRegistered,
} from '@cairn/protocol';
import type { UniqueId } from '../../engine/ports.ts';
import type { RequestKey } from '../../log/ports/idempotency.ts';
import type { SubscriptionRecord } from '../../log/ports/subscriptions.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { DeliveryJob } from '../cluster/delivery-job.ts';
import { thereIsNo } from '../http/unknown-id.ts';
import type { DeriveKeys, Keys } from '../secrets/host-secret.ts';
import { gateOf } from './circuit.ts';
import { Deliveries, type DeliveryPorts } from './deliveries.ts';
import { type DeliveryState, parseState } from './delivery-state.ts';
import { secretFingerprint } from './signature.ts';
import { type Agreement, callbacksRecord, newWebhook, parseAgreement, secretOf, WEBHOOK } from './subscriptions.ts';

export interface WebhookPorts extends Omit<DeliveryPorts, 'secretOf' | 'keys'> {
  readonly clusterNode: ClusterNode;
  readonly deriveKeys: DeriveKeys;
  readonly uniqueId: UniqueId;
}

/** Maximum number of webhooks per tenant. */
export const MAX_WEBHOOKS = 50;

export class Webhooks {
  readonly #ports: WebhookPorts;
  readonly #keys: Keys;
  readonly #callbackKeys: Keys;
  readonly #job: DeliveryJob<Deliveries>;
  /** One entry per tenant with callbacks; resolves once the subscription is stored. */
  readonly #callbacks = new Map<string, Promise<void>>();

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
    this.#keys = ports.deriveKeys('webhook-secret');
    this.#callbackKeys = ports.deriveKeys('callback-secret');
    const delivering = { ...ports, keys: this.#keys, secretOf: (tenant: string) => this.callbackSecret(tenant) };
    this.#job = new DeliveryJob(ports, {
      name: 'webhooks',
      failed: 'webhook.read_failed',
      create: (lease) => new Deliveries(delivering, lease),
    });
  }

  /** Resumes delivery of all stored subscriptions, here or on another node. */
  open(): Promise<void> {
    return this.#job.open();
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  /**
   * A request with an idempotency key derives the webhook id from it. A retry after a crash finds the existing webhook.
   */
  async register(tenant: string, request: RegisterWebhook, requestKey?: RequestKey): Promise<WebhookRegistered> {
    const id = `wh_${requestKey === undefined ? this.#ports.uniqueId() : nameFrom(tenant, requestKey)}`;
    // One after the other, so that none is counted twice.
    return this.#ports.clusterNode.alone(`webhooks of ${tenant}`, async () => {
      const own = await this.#ofTenant(tenant);
      const known = own.find((record) => record.id === id);
      if (known !== undefined) return registered(id, secretOf(this.#keys, id, parseAgreement(known)));
      if (own.length >= MAX_WEBHOOKS) throw tooMany(tenant);
      return this.#registered(id, tenant, request);
    });
  }

  async #registered(id: string, tenant: string, request: RegisterWebhook): Promise<WebhookRegistered> {
    const { store, now } = this.#ports;
    const position = await store.changes.end();
    const { record, secret } = newWebhook(this.#keys, { id, tenant, request, now: now(), position });
    await store.subscriptions.put(record);
    await this.#changed();
    return registered(id, secret);
  }

  async list(tenant: string): Promise<readonly Webhook[]> {
    const now = this.#ports.now();
    return (await this.#ofTenant(tenant)).map((record) => {
      const state = this.#job.running?.stateOf(record.id) ?? parseState(record.state);
      return shown(record.id, parseAgreement(record), state, now);
    });
  }

  /** A delivery in flight may still arrive. */
  async remove(tenant: string, id: string): Promise<void> {
    const isWebhook = (await this.#ofTenant(tenant)).some((record) => record.id === id);
    if (!isWebhook || !(await this.#ports.store.subscriptions.drop(tenant, id))) throw unknown(id);
    await this.#changed();
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
    const { changes, subscriptions } = this.#ports.store;
    try {
      await subscriptions.put(callbacksRecord(tenant, await changes.end()));
    } catch (error) {
      // This host, before it was restarted, or another node.
      if (isCairnError(error, 'conflict')) return;
      throw error;
    }
    await this.#changed();
  }

  callbackSecret(tenant: string): string {
    return createHmac('sha256', this.#callbackKeys[0]).update(tenant).digest('hex');
  }

  #ofTenant(tenant: string): Promise<readonly SubscriptionRecord[]> {
    return this.#ports.store.subscriptions.list(WEBHOOK, tenant);
  }

  /** Takes effect here at once, and on another node as soon as it is notified. */
  async #changed(): Promise<void> {
    await this.#job.running?.reload();
    this.#ports.clusterNode.hint('subscriptions.changed', WEBHOOK);
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

function shown(webhookId: string, agreement: Agreement, state: DeliveryState, now: number): Webhook {
  const { pending, delivered, circuit, lastError, deadLetters } = state;
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
    message: `The tenant ${quoted(tenant, 80)} has ${MAX_WEBHOOKS} webhooks, which is the maximum.`,
    hint: 'Delete one that is not needed any more.',
    details: { maxWebhooks: MAX_WEBHOOKS },
  });

const unknown = (id: string): TerminalError =>
  new TerminalError('not_found', {
    message: thereIsNo('webhook', id, /^wh_[\w-]{1,80}$/.test(id)),
    hint: 'List the webhooks to see their ids.',
  });
