/** The way into the host, the same for every route: is the request meant for us, who sent it, how much do they ask, may they. */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Report } from '../../engine/ports.ts';
import type { HostConfig } from '../config/config.ts';
import { createCheckHost } from '../http/host-header.ts';
import type { KeyedRoute, OpenRoute, Route } from '../http/routes.ts';
import { type Caller, createKeyRing, requireScope } from './auth.ts';
import { createAuthenticate } from './credentials.ts';
import { createCheckOrigin } from './cross-origin.ts';
import { IssuerKeys } from './jwks.ts';
import { createTokenCheck } from './jwt.ts';
import { type AccessLimits, Limits } from './limits.ts';
import { sessionRoutes } from './session-routes.ts';
import { Sessions } from './sessions.ts';

export interface GateConfig extends Pick<HostConfig, 'bind' | 'publicUrl' | 'keys' | 'jwt' | 'cors'> {
  readonly limits: AccessLimits;
}

export interface GatePorts {
  readonly now: () => number;
  readonly report: Report;
}

export interface Gate {
  /** For every request, known path or not: refuses what is malformed or comes from a page that may not call. */
  check(request: FastifyRequest, reply: FastifyReply): void;
  /** For a route with a scope: gives the caller who may use it, or throws. */
  enter(request: FastifyRequest, reply: FastifyReply, route: KeyedRoute): Caller | Promise<Caller>;
  /** For a route without: throws when its path holds a credential that is none. */
  enterOpen(request: FastifyRequest, reply: FastifyReply, route: OpenRoute): void;
  /** For a path of the API that is not served: throws unless the sender is somebody, so that strangers learn nothing. */
  know(request: FastifyRequest): Promise<void>;
  /** The routes of sessions. */
  readonly routes: readonly Route[];
  /** From now on nobody enters. */
  drain(): void;
}

/** Beyond this many headers a request is nonsense; the bytes of all of them are bounded by the parser. */
const MAX_HEADERS = 100;

export function createGate(config: GateConfig, { now, report }: GatePorts): Gate {
  const checkHost = createCheckHost(config.bind, config.publicUrl);
  const checkOrigin = createCheckOrigin(config.cors.origins, config.publicUrl);
  const sessions = new Sessions({ secure: config.publicUrl?.startsWith('https:') ?? false, now });
  const { jwt } = config;
  const token =
    jwt === undefined ? null : createTokenCheck(jwt, { keys: new IssuerKeys({ url: jwt.jwksUrl, now, report }), now });
  const authenticate = createAuthenticate({ key: createKeyRing(config.keys), token, sessions });
  const limits = new Limits(config.limits, now);
  let draining = false;

  const failed = (error: unknown, request: FastifyRequest): unknown => {
    if (!(error instanceof TerminalError)) return error;
    try {
      limits.failure(request.ip);
      return error;
    } catch (tooMany) {
      return tooMany;
    }
  };

  /** What follows once the caller is known. The rate comes before the scope: a refusal is a request too. */
  const admit = (caller: Caller, reply: FastifyReply, route: KeyedRoute): Caller => {
    limits.request(caller);
    requireScope(caller, route.scope);
    whileOpen(reply, () => (route.holds ? limits.hold(caller) : limits.begin(caller)));
    return caller;
  };

  return {
    check(request, reply) {
      checkShape(request);
      checkHost(request.headers.host);
      checkOrigin(request, reply);
    },
    enter(request, reply, route) {
      if (draining) throw stopping();
      let caller: Caller | Promise<Caller>;
      try {
        caller = authenticate(request);
      } catch (error) {
        throw failed(error, request);
      }
      if (!(caller instanceof Promise)) return admit(caller, reply, route);
      return caller.then(
        (known) => admit(known, reply, route),
        (error: unknown) => {
          throw failed(error, request);
        },
      );
    },
    enterOpen(request, reply, { admit: isGood }) {
      if (isGood === undefined) return;
      if (draining) throw stopping();
      try {
        isGood({ request, reply });
      } catch (error) {
        throw failed(error, request);
      }
    },
    async know(request) {
      if (draining) throw stopping();
      try {
        limits.request(await authenticate(request));
      } catch (error) {
        throw failed(error, request);
      }
    },
    routes: sessionRoutes(sessions),
    drain() {
      draining = true;
    },
  };
}

/** Takes a place until the answer is out. A client that left while its token was checked has closed the response already. */
function whileOpen({ raw, request }: FastifyReply, take: () => () => void): void {
  // The request's connection: a response that waits behind others of its connection has none yet.
  if (request.raw.socket.destroyed) return;
  raw.once('close', take());
}

/** What two readers could understand differently is refused before anybody acts on it. */
function checkShape({ method, headers, raw }: FastifyRequest): void {
  const { rawHeaders, url = '' } = raw;
  // With a host of its own in the request line, the Host header would be the wrong thing to look at.
  if (!url.startsWith('/') && url !== '*') throw malformed(`The request is for ${quoted(url, 100)}, which is no path.`);
  if (rawHeaders.length > 2 * MAX_HEADERS) throw malformed(`The request has more than ${MAX_HEADERS} headers.`);
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // Lengths first: this runs for every header of every request.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) throw malformed('The request has more than one Host header.');
  if (credentials > 1) throw malformed('The request has more than one Authorization header.');
  if ((method === 'GET' || method === 'HEAD') && hasBody(headers)) {
    throw malformed(`A ${method} request has no body, but this one announces one.`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new TerminalError('unsupported_media_type', {
      message: `The body is encoded as ${quoted(encoding, 40)}, which this host does not read.`,
      hint: 'Send the body as it is, without Content-Encoding.',
    });
  }
}

const hasBody = (headers: FastifyRequest['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

const malformed = (message: string): TerminalError =>
  new TerminalError('validation_error', { message, hint: 'Send a well-formed HTTP/1.1 request.' });

const stopping = (): RetryableError =>
  new RetryableError('service_unavailable', {
    message: 'The host is stopping.',
    hint: 'Try again in a moment, at the host that takes its place.',
    details: { reason: 'draining', retryAfterMs: 2_000 },
  });
