/** Webhooks: subscriptions to a tenant's events, and their deliveries. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { runEventDoc } from '../events/run-event-doc.ts';
import { count, instant, text } from '../fields.ts';
import { MAX_TAG_LENGTH, MAX_TAGS } from '../runs/run-options.ts';

/** Maximum number of event types of one webhook. */
const MAX_TYPES = 200;

/** `POST /v1/webhooks` (closed). */
export const registerWebhook = z
  .strictObject({
    url: text.max(2048),
    /** Event types, at least one. */
    events: z.array(text.max(128)).min(1).max(MAX_TYPES),
    /** Signs the deliveries; left out, the host makes one. */
    secret: z.string().min(16).max(256).optional(),
    /** Only runs that carry at least one of them. */
    tags: z.array(text.max(MAX_TAG_LENGTH)).max(MAX_TAGS).optional(),
    /** Must be the caller's own when given. */
    tenantId: text.optional(),
  })
  .meta({ id: 'RegisterWebhook' });

export const webhookRegistered = z
  .looseObject({
    webhookId: text,
    /** Shown this once. */
    secret: text,
    /** The first eight hex digits of its SHA-256. */
    secretFingerprint: z.string().regex(/^[0-9a-f]{8}$/),
  })
  .meta({ id: 'WebhookRegistered' });

export const webhookStates = ['active', 'paused', 'failed'] as const;

/** An abandoned delivery. */
const deadLetter = z.looseObject({
  runId: text,
  sequence: count,
  attempts: count,
  lastError: z.string(),
  at: instant,
});

/** One row of `GET /v1/webhooks`; never the secret. */
export const webhook = z
  .looseObject({
    webhookId: text,
    url: text,
    events: z.array(text),
    tags: z.array(text).optional(),
    secretFingerprint: text,
    createdAt: instant,
    /** `paused` while the receiver is left alone after failures, `failed` when it was given up. */
    state: z.enum(webhookStates),
    /** Until when a paused one is left alone. */
    pausedUntil: instant.optional(),
    /** Events that were read and not delivered yet. */
    pending: count,
    delivered: count,
    lastError: z.string().optional(),
    /** The newest of those that were given up. */
    deadLetters: z.array(deadLetter),
  })
  .meta({ id: 'Webhook' });

export const webhookList = z.looseObject({ webhooks: z.array(webhook) }).meta({ id: 'WebhookList' });

/** The body of a delivery. */
export const webhookDelivery = z
  .looseObject({ runId: text, workspaceId: text, event: runEventDoc })
  .meta({ id: 'WebhookDelivery' });

/** `GET /v1/host/cairn/callback-secret`: the secret that signs the POSTs to a tenant's `callbackUrl`s. */
export const callbackSecret = z
  .looseObject({ secret: text, secretFingerprint: z.string().regex(/^[0-9a-f]{8}$/) })
  .meta({ id: 'CallbackSecret' });

export type RegisterWebhook = DataOf<typeof registerWebhook>;
export type WebhookRegistered = DataOf<typeof webhookRegistered>;
export type WebhookState = (typeof webhookStates)[number];
export type DeadLetter = DataOf<typeof deadLetter>;
export type Webhook = DataOf<typeof webhook>;
export type WebhookList = DataOf<typeof webhookList>;
export type WebhookDelivery = DataOf<typeof webhookDelivery>;
export type CallbackSecret = DataOf<typeof callbackSecret>;
