/** Webhooks over HTTP: register, list, delete. */
import {
  audienceOf,
  callbackSecret,
  eventTypes,
  parseShape,
  quoted,
  type RegisterWebhook,
  registerWebhook,
  TerminalError,
  webhookList,
  webhookRegistered,
} from '@cairn/protocol';
import { z } from 'zod';
import type { Redactor } from '../../engine/ports.ts';
import { refuseSecrets } from '../../engine/values/redacted.ts';
import { nearest } from '../../nearest.ts';
import { checkedUrl } from '../egress/checked-url.ts';
import type { Egress } from '../egress/egress.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import { secretFingerprint } from './signature.ts';
import type { Webhooks } from './webhooks.ts';

export interface WebhookRoutePorts {
  readonly webhooks: Webhooks;
  readonly egress: Egress;
  readonly redactor: Redactor | null;
}

const scope = 'webhooks:manage';

export function webhookRoutes(ports: WebhookRoutePorts): readonly Route[] {
  const { webhooks } = ports;
  return [
    {
      method: 'POST',
      path: '/v1/webhooks',
      scope,
      answersSecret: true,
      handle: (call) => register(call, ports),
      doc: {
        id: 'registerWebhook',
        summary: 'Have events posted to an address',
        body: registerWebhook,
        responses: { 201: { description: 'The webhook; its secret is shown this once.', shape: webhookRegistered } },
        errors: ['conflict'],
      },
    },
    {
      method: 'GET',
      path: '/v1/webhooks',
      scope,
      handle: async ({ caller }) => JSON.stringify({ webhooks: await webhooks.list(caller.tenant) }),
      doc: {
        id: 'listWebhooks',
        summary: 'The webhooks of the tenant and how their deliveries go',
        responses: { 200: { description: 'All of them, without their secrets.', shape: webhookList } },
      },
    },
    {
      method: 'DELETE',
      path: '/v1/webhooks/{webhookId}',
      scope,
      handle: (call) => remove(call, webhooks),
      doc: {
        id: 'deleteWebhook',
        summary: 'Stop posting to an address',
        query: z.object({ tenantId: z.string().optional() }),
        responses: { 204: { description: 'It is gone.' } },
        errors: ['not_found'],
      },
    },
    {
      method: 'GET',
      path: '/v1/host/cairn/callback-secret',
      scope,
      handle: (call) => secretOfCallbacks(call, webhooks),
      doc: {
        id: 'getCallbackSecret',
        summary: 'What posts to callback addresses are signed with',
        responses: { 200: { description: 'The secret of the tenant.', shape: callbackSecret } },
      },
    },
  ];
}

async function register(call: Call, { webhooks, egress, redactor }: WebhookRoutePorts): Promise<string> {
  const request = parseShape(registerWebhook, call.request.body, 'The webhook');
  const { tenant } = call.caller;
  refuseOtherTenant(tenant, request.tenantId);
  checkTypes(request);
  refuseSecrets(redactor, 'The webhook', { url: request.url, tags: request.tags });
  await checkedUrl(egress, request.url, 'url');
  const registered = await webhooks.register(tenant, request, call.requestKey);
  call.reply.code(201).header('cache-control', 'no-store');
  return JSON.stringify(registered);
}

async function remove(call: Call, webhooks: Webhooks): Promise<undefined> {
  refuseOtherTenant(call.caller.tenant, queryParam(call, 'tenantId'));
  await webhooks.remove(call.caller.tenant, pathParam(call, 'webhookId'));
  call.reply.code(204).send();
  return undefined;
}

async function secretOfCallbacks(call: Call, webhooks: Webhooks): Promise<string> {
  call.reply.header('cache-control', 'no-store');
  const secret = webhooks.callbackSecret(call.caller.tenant);
  return JSON.stringify({ secret, secretFingerprint: secretFingerprint(secret) });
}

/** The credential determines the tenant. A request that names another tenant is refused. */
function refuseOtherTenant(tenant: string, named: string | undefined): void {
  if (named === undefined || named === tenant) return;
  throw new TerminalError('forbidden', {
    message: `This key does not belong to the tenant ${quoted(named, 80)}.`,
    hint: 'Leave tenantId out, or use a key of that tenant.',
  });
}

const deliverable: readonly string[] = eventTypes.filter((type) => audienceOf(type) === 'client');

function checkTypes({ events }: RegisterWebhook): void {
  const wrong = events.find((type) => !deliverable.includes(type));
  if (wrong === undefined) return;
  const close = nearest(wrong, deliverable);
  throw new TerminalError('validation_error', {
    message: `No event of the type ${quoted(wrong, 80)} is delivered.`,
    hint: close === null ? 'The types are listed in docs/reference/webhooks.md.' : `Did you mean ${close}?`,
    details: { parameter: 'events' },
  });
}
