/** The stored record of a subscription. The secret is stored sealed. */

import { randomBytes } from 'node:crypto';
import type { RegisterWebhook } from '@cairn/protocol';
import { z } from 'zod';
import type { SubscriptionRecord } from '../../log/ports/subscriptions.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { newDeliveryState, renderState } from './delivery-state.ts';
import { secretFingerprint } from './signature.ts';

export const WEBHOOK = 'webhook';
export const CALLBACKS = 'callbacks';

const bodyShape = z.object({
  url: z.string(),
  events: z.array(z.string()),
  tags: z.array(z.string()).nullable(),
  sealedSecret: z.string(),
  secretFingerprint: z.string(),
  createdAt: z.number(),
});

export type Agreement = Readonly<z.infer<typeof bodyShape>>;

export interface NewWebhook {
  readonly id: string;
  readonly tenant: string;
  readonly request: RegisterWebhook;
  readonly now: number;
  /** The log position where delivery starts. */
  readonly position: string;
}

/** Returns the record to store and the plain secret, which the record does not contain. */
export function newWebhook(keys: Keys, webhook: NewWebhook) {
  const { id, tenant, request, now, position } = webhook;
  const secret = request.secret ?? randomBytes(32).toString('hex');
  const agreement: Agreement = {
    url: request.url,
    events: [...new Set(request.events)],
    tags: request.tags === undefined || request.tags.length === 0 ? null : [...request.tags],
    sealedSecret: seal(keys, id, secret),
    secretFingerprint: secretFingerprint(secret),
    createdAt: now,
  };
  const state = renderState(newDeliveryState(position));
  const record: SubscriptionRecord = { id, tenant, kind: WEBHOOK, body: JSON.stringify(agreement), state };
  return { record, secret };
}

export const parseAgreement = (record: SubscriptionRecord): Agreement => bodyShape.parse(JSON.parse(record.body));

export const secretOf = (keys: Keys, id: string, { sealedSecret }: Agreement): string => unseal(keys, id, sealedSecret);

/** One internal subscription of the host delivers all callbacks of a tenant. */
export const callbacksRecord = (tenant: string, position: string): SubscriptionRecord => ({
  id: `callbacks:${tenant}`,
  tenant,
  kind: CALLBACKS,
  body: '{}',
  state: renderState(newDeliveryState(position)),
});
