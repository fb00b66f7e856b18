/** Gives every route that changes something its `Idempotency-Key`, at the one place where routes are registered. */
import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Call, OpenCall, Route } from '../http/routes.ts';
import { type Idempotency, idempotencyKeyOf, type Outcome } from './idempotency.ts';

/** How answers that hold a secret are kept. */
export interface Sealer {
  seal(text: string): string;
  open(text: string): string;
}

/** The same route; a request to it that carries a key is carried out once. */
export function once(route: Route, requests: Idempotency, sealer: Sealer): Route {
  if (route.method === 'GET' || route.repeatable) return route;
  if (route.scope === null) {
    const handle = (call: OpenCall) =>
      carriedOut(requests, { route, call, tenant: ownerOf(call), sealer }, route.handle);
    return { ...route, handle };
  }
  const handle = (call: Call) =>
    carriedOut(requests, { route, call, tenant: call.caller.tenant, sealer }, route.handle);
  return { ...route, handle };
}

/** An open route has no tenant: what its path names, such as a token, is whose request it is. */
const ownerOf = ({ request }: OpenCall): string => `open ${hash('sha256', JSON.stringify(request.params), 'hex')}`;

interface Asked<Given extends OpenCall> {
  readonly route: Route;
  readonly call: Given;
  readonly tenant: string;
  readonly sealer: Sealer;
}

const plain: Sealer = { seal: (text) => text, open: (text) => text };

async function carriedOut<Given extends OpenCall>(
  requests: Idempotency,
  { route, call, tenant, sealer }: Asked<Given>,
  handle: (call: Given) => Promise<string | undefined>,
): Promise<string | undefined> {
  const { request, reply } = call;
  const key = idempotencyKeyOf(request.headers['idempotency-key']);
  if (key === undefined) return handle(call);
  const { params, query, body } = request;
  const kept = route.answersSecret ? sealer : plain;
  const {
    status,
    headers,
    body: answer,
    replayed,
  } = await requests.carryOut(
    {
      tenant,
      endpoint: `${route.method} ${route.path}`,
      key,
      content: { params, query, body: body ?? null },
      commitsOutcome: route.commitsOutcome === true,
    },
    async (mark) => {
      const outcome = await outcomeOf(reply, () => handle({ ...call, once: mark }));
      return { ...outcome, body: kept.seal(outcome.body) };
    },
  );
  if (reply.sent) return undefined;
  reply.code(status).headers(headers);
  if (replayed) reply.header('openwop-Idempotent-Replay', 'true');
  // Refusals hold no secret and are recorded as they are.
  if (answer !== '') return status < 300 ? kept.open(answer) : answer;
  reply.send();
  return undefined;
}

/** What a handler answers, with the headers it set itself. */
async function outcomeOf(reply: FastifyReply, handle: () => Promise<string | undefined>): Promise<Outcome> {
  const before = new Set(Object.keys(reply.getHeaders()));
  const body = (await handle()) ?? '';
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (!before.has(name) && !unrepeatable.has(name) && value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, headers, body };
}

/** A cookie is for whoever asked first; the others belong to one response, not to its content. */
const unrepeatable: ReadonlySet<string> = new Set(['set-cookie', 'content-length', 'content-type', 'date']);
