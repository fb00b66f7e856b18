/** Makes every route that changes something honour an `Idempotency-Key`, at the one place where routes are registered. */
import { hash } from 'node:crypto';
import type { Json } from '@cairn/protocol';
import type { FastifyReply } from 'fastify';
import type { Call, HttpCall, Route } from '../http/routes.ts';
import { type HttpResponse, type Idempotency, idempotencyKeyOf } from './idempotency.ts';

/** Seals the responses of one tenant that hold a secret. */
export type SealerFor = (tenant: string) => Sealer;

interface Sealer {
  seal(text: string): string;
  open(text: string): string;
}

/** The same route, which honours an `Idempotency-Key`. */
export function idempotent(route: Route, requests: Idempotency, sealerFor: SealerFor): Route {
  if (route.method === 'GET' || route.repeatable) return route;
  if (route.scope === null) {
    const handle = (call: HttpCall) =>
      carriedOut(requests, { route, call, tenant: ownerOf(call), sealerFor }, route.handle);
    return { ...route, handle };
  }
  const { follow, receive } = route;
  const handle = async (call: Call): Promise<string | undefined> => {
    const received = await receive?.(call);
    const { tenant } = call.caller;
    const text = await carriedOut(requests, { route, call, tenant, sealerFor, received }, route.handle);
    return text === undefined || follow === undefined || call.reply.statusCode >= 300 ? text : follow(call, text);
  };
  return { ...route, handle };
}

/**
 * An open route has no tenant: its keys belong to what its path names, such as a token. No tenant has a control
 * character in its name, so none has the name of such an owner.
 */
const ownerOf = ({ request }: HttpCall): string =>
  `\u0001open ${hash('sha256', JSON.stringify(request.params), 'hex')}`;

interface RoutedCall<Given extends HttpCall> {
  readonly route: Route;
  readonly call: Given;
  readonly tenant: string;
  readonly sealerFor: SealerFor;
  /** What identifies a body that the route read itself. */
  readonly received?: Json | undefined;
}

const plain: Sealer = { seal: (text) => text, open: (text) => text };

async function carriedOut<Given extends HttpCall>(
  requests: Idempotency,
  { route, call, tenant, sealerFor, received }: RoutedCall<Given>,
  handle: (call: Given) => Promise<string | undefined>,
): Promise<string | undefined> {
  const { request, reply } = call;
  const own = route.ownKey?.(call);
  const sent = idempotencyKeyOf(request.headers['idempotency-key']);
  const key = own?.key ?? sent;
  if (key === undefined) return handle(call);
  const { params, query, body } = request;
  const stored = route.answersSecret ? sealerFor(tenant) : plain;
  const response = await requests.carryOut(
    {
      tenant,
      endpoint: `${route.method} ${route.path}`,
      key,
      content: own?.content ?? { params, query, body: received ?? body ?? null },
      recordsItself: route.recordsItself === true,
      forgetsRefusals: own?.forgetsRefusals,
    },
    async (requestKey) => {
      const given = await responseOf(reply, () => handle({ ...call, requestKey }));
      return { ...given, body: stored.seal(given.body) };
    },
  );
  if (reply.sent) return undefined;
  const { status, headers, isReplayed } = response;
  reply.code(status).headers(headers);
  if (isReplayed) reply.header('openwop-Idempotent-Replay', 'true');
  // Refusals hold no secret and are recorded as they are.
  if (response.body !== '') return status < 300 ? stored.open(response.body) : response.body;
  reply.send();
  return undefined;
}

/** What a handler answers, with the headers it set itself. */
async function responseOf(reply: FastifyReply, handle: () => Promise<string | undefined>): Promise<HttpResponse> {
  const before = new Set(Object.keys(reply.getHeaders()));
  const body = (await handle()) ?? '';
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (!before.has(name) && !unrecorded.has(name) && value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, headers, body };
}

/** A cookie is for the first client alone; the others belong to one response, not to its content. */
const unrecorded: ReadonlySet<string> = new Set(['set-cookie', 'content-length', 'content-type', 'date']);
