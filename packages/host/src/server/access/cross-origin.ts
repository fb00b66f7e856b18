/** Which web pages may call: those this host serves itself and those of the origins the operator listed. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Refuses pages of other origins, and lets the browser show our answers to those of listed ones. */
export type CheckOrigin = (request: FastifyRequest, reply: FastifyReply) => void;

/** What a page may read of an answer beside its body. */
const EXPOSED = 'ETag, Location, openwop-Idempotent-Replay, Retry-After, traceparent';

/** What a page may send beside what every page may. */
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'traceparent',
  'tracestate',
  'X-Dedup',
].join(', ');

export function createCheckOrigin(origins: readonly string[], publicUrl: string | undefined): CheckOrigin {
  const listed = new Set(origins);
  const own = publicUrl === undefined ? null : new URL(publicUrl).origin;
  return ({ headers }, reply) => {
    const { origin } = headers;
    // On the raw response: streams write their own head.
    if (listed.size > 0) reply.raw.setHeader('vary', 'Origin');
    if (origin === undefined) return;
    if (listed.has(origin)) {
      reply.raw.setHeader('access-control-allow-origin', origin);
      reply.raw.setHeader('access-control-allow-credentials', 'true');
      reply.raw.setHeader('access-control-expose-headers', EXPOSED);
      return;
    }
    if (origin === own || isSameHost(origin, headers.host)) return;
    throw new TerminalError('forbidden', {
      message: `Pages of ${quoted(origin, 100)} may not call this host.`,
      hint: 'Add the origin to cors.origins in the configuration.',
    });
  };
}

/** Answers the question a browser asks before it lets a page send a request; the origin was checked. */
export function answerPreflight(reply: FastifyReply, methods: readonly string[]): void {
  reply
    .code(204)
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', ALLOWED)
    .header('access-control-max-age', '600')
    .send();
}

export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** A proxy may speak https for us, so that only name and port are compared. */
const isSameHost = (origin: string, host: string | undefined): boolean =>
  host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
