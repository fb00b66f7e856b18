/** CORS: the host's own pages and the origins that the operator listed may call the API. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Refuses other origins, and sets the CORS headers for listed ones. */
export type CheckOrigin = (request: FastifyRequest, reply: FastifyReply) => void;

/** Response headers that a page may read. */
const EXPOSED = [
  'cairn-context-id',
  'cairn-task-id',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Link',
  'Location',
  'Mcp-Session-Id',
  'openwop-Idempotent-Replay',
  'Preference-Applied',
  'Retry-After',
  'traceparent',
].join(', ');

/** Request headers that a page may send, besides the CORS-safelisted ones. */
const ALLOWED = [
  'A2A-Version',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Prefer',
  'Range',
  'traceparent',
  'tracestate',
  'X-Dedup',
].join(', ');

/** Returns whether an origin is that of the host itself. */
export function createIsOwnOrigin(
  publicUrl: string | undefined,
): (origin: string, host: string | undefined) => boolean {
  const own = publicUrl === undefined ? null : new URL(publicUrl).origin;
  return (origin, host) => origin === own || isSameHost(origin, host);
}

export function createCheckOrigin(origins: readonly string[], publicUrl: string | undefined): CheckOrigin {
  const listed = new Set(origins);
  const isOwn = createIsOwnOrigin(publicUrl);
  return ({ headers }, reply) => {
    const { origin } = headers;
    // Set on the raw response, because streams write their own headers.
    if (listed.size > 0) reply.raw.setHeader('vary', 'Origin');
    if (origin === undefined) return;
    if (listed.has(origin)) {
      reply.raw.setHeader('access-control-allow-origin', origin);
      reply.raw.setHeader('access-control-allow-credentials', 'true');
      reply.raw.setHeader('access-control-expose-headers', EXPOSED);
      return;
    }
    if (isOwn(origin, headers.host)) return;
    throw new TerminalError('forbidden', {
      message: `Pages of ${quoted(origin, 100)} may not call this host.`,
      hint: 'Add the origin to cors.origins in the configuration.',
    });
  };
}

/** Answers a CORS preflight request; the origin is already checked. */
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

/** A proxy may terminate TLS, so only host name and port are compared. */
const isSameHost = (origin: string, host: string | undefined): boolean =>
  host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
