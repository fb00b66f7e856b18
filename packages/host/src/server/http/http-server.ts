/** The Node server below the app: its time and size limits, and the headers of every response. */
import { createServer, type Server } from 'node:http';
import type { EventLoop } from '../../engine/ports.ts';
import type { LaterTurns } from '../later-turns.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { limitConnections } from './connection-limits.ts';
import { type Handle, inTurns } from './request-turns.ts';

/** Limit for all headers of a request together. */
export const MAX_HEADER_BYTES = 16_384;

/** Time to receive the headers of a request, from the opening of the connection or the first byte. */
const HEADERS_WITHIN_MS = 10_000;

/** Time to receive a whole request; a slower client only occupies a connection. */
export const REQUEST_WITHIN_MS = 30_000;

/**
 * A connection without traffic for this long is closed, including responses that the client does not read. Polls wait half of it.
 */
const STILL_MS = 120_000;

/** An idle connection closes after this time. Common proxies keep theirs for 60 seconds. */
const KEEP_ALIVE_MS = 72_000;

/** A client that uses an idle connection just before it closes must find it open: it closes later than clients are told. */
const KEEP_ALIVE_LONGER_MS = 5_000;

/** How often slow requests are looked for. */
const CHECK_EVERY_MS = 2_000;

/**
 * A stream writes no more while so many bytes wait for its client. Node's 64 KiB for each of a thousand readers would be twice
 * what a tenant may leave unread, and streams would be cut as soon as their clients are busy for a moment.
 */
const UNREAD_BYTES = 16_384;

export interface HttpServerOptions {
  readonly connections: ConnectionLimits;
  /** Whether there are trusted proxies, whose `X-Forwarded-For` names the client. */
  readonly hasProxies: boolean;
  /** For long work of requests. It learns of each connection. */
  readonly laterTurns: EventLoop & Pick<LaterTurns, 'arrived' | 'afterReactions' | 'turnMs'>;
  /** On every response, also those of streams and those for malformed requests. */
  readonly headers: SafetyHeaders;
}

export type SafetyHeaders = Readonly<Record<string, string>>;

/** Browsers then take no response for another type, and after one visit by https use only https. */
export const safetyHeaders = (publicUrl: string | undefined): SafetyHeaders => ({
  'x-content-type-options': 'nosniff',
  ...(publicUrl?.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});

export function createHttpServer(handle: Handle, { connections, laterTurns, headers }: HttpServerOptions): Server {
  const fixed = Object.entries(headers);
  const answer: Handle = (request, response) => {
    for (const [name, value] of fixed) response.setHeader(name, value);
    handle(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutBuffer: KEEP_ALIVE_LONGER_MS,
      highWaterMark: UNREAD_BYTES,
      // Node would refuse a missing Host header without an error envelope, so the gate refuses it instead.
      requireHostHeader: false,
    },
    inTurns(answer, {
      elapsedMs: () => laterTurns.elapsedMs(),
      nextTurn: setImmediate,
      afterReactions: (go) => laterTurns.afterReactions(go),
      turnMs: () => laterTurns.turnMs(),
    }),
  );
  server.setTimeout(STILL_MS);
  server.on('connection', () => laterTurns.arrived());
  limitConnections(server, connections);
  return server;
}
