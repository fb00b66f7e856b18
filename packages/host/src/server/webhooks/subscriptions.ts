/** What was agreed with a subscriber, as it is kept: the secret only sealed. */

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
  /** Where its telling begins. */
  readonly position: string;
}

/** The record to keep, and the secret, which is not in it. */
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

/** A tenant's callbacks are told by one subscription of the host's own. */
export const callbacksRecord = (tenant: string, position: string): SubscriptionRecord => ({
  id: `callbacks:${tenant}`,
  tenant,
  kind: CALLBACKS,
  body: '{}',
  state: renderState(newDeliveryState(position)),
});
