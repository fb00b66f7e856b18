/** Webhooks: subscriptions to a tenant's events. */
import type { CallbackSecret, RegisterWebhook, Webhook, WebhookList, WebhookRegistered } from '@cairn/protocol';
import { type CallOptions, type ChangeOptions, change, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Webhooks {
  /** The answer holds the secret that signs the deliveries; it is not shown again. */
  register(webhook: RegisterWebhook, options?: ChangeOptions): Promise<WebhookRegistered>;
  list(options?: CallOptions): Promise<readonly Webhook[]>;
  delete(webhookId: string, options?: ChangeOptions): Promise<void>;
  /** The secret that signs the POSTs to the `callbackUrl`s of the tenant's runs. */
  callbackSecret(options?: CallOptions): Promise<CallbackSecret>;
}

export function webhookCalls(connection: Connection): Webhooks {
  return {
    register: (webhook, options) => change(connection, { path: '/v1/webhooks', body: webhook }, options),
    async list(options) {
      return (await read<WebhookList>(connection, '/v1/webhooks', options)).webhooks;
    },
    delete: (webhookId, options) =>
      change(connection, { method: 'DELETE', path: `/v1/webhooks/${segment(webhookId)}` }, options),
    callbackSecret: (options) => read(connection, '/v1/host/cairn/callback-secret', options),
  };
}
