/**
 * Admission for every route: validates the request, authenticates the caller, applies rate limits and checks the scope.
 */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Redactor, Report, Timers } from '../../engine/ports.ts';
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import type { ExpiringRecords } from '../../log/ports/expiring.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { type HostConfig, isLoopback } from '../config/config.ts';
import { createCheckHost } from '../http/host-header.ts';
import type { KeyedRoute, OpenRoute, Route } from '../http/routes.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { createAttempt } from './attempts.ts';
import { type Caller, createKeyRing, currentScopes, currentToolScopes, requireScope } from './auth.ts';
import { createAuthenticate, isAnonymous, noCredential } from './credentials.ts';
import { createCheckOrigin, createIsOwnOrigin } from './cross-origin.ts';
import { type Ended, EndedSessions } from './ended-sessions.ts';
import { HeldResponses } from './held-responses.ts';
import { IssuerKeys } from './jwks.ts';
import { createTokenCheck } from './jwt.ts';
import { type AccessLimits, Limits } from './limits.ts';
import { ReadTokens } from './read-tokens.ts';
import { sessionRoutes, signInLinkRoutes } from './session-routes.ts';
import { Sessions } from './sessions.ts';
import { SignInLinks } from './sign-in-links.ts';

export interface GateConfig extends Pick<HostConfig, 'bind' | 'publicUrl' | 'keys' | 'jwt' | 'cors'> {
  readonly limits: AccessLimits;
}

export interface GatePorts {
  readonly now: () => number;
  readonly timers: Timers;
  readonly report: Report;
  readonly redactor: Pick<Redactor, 'secretIn'> | null;
  /** Keys that sign the cookies of sessions. */
  readonly sessionKeys: Keys;
  /** Sessions and tokens that were ended, and sign-in links. */
  readonly expiring: ExpiringRecords;
  readonly cluster: Pick<ClusterNode, 'on' | 'hint'>;
  /** Keys that sign read tokens. */
  readonly readTokenKeys: Keys;
}

export interface Gate {
  /**
   * For every request, including unknown paths: refuses malformed requests, wrong Host headers and disallowed origins.
   */
  check(request: FastifyRequest, reply: FastifyReply): void;
  /** For a route with a scope: returns the admitted caller, or throws. */
  enter(request: FastifyRequest, reply: FastifyReply, route: KeyedRoute): Caller | Promise<Caller>;
  /** For a route without a scope: throws when its path contains an invalid credential. */
  enterOpen(request: FastifyRequest, reply: FastifyReply, route: OpenRoute): Promise<void> | undefined;
  /** For an unknown API path: throws unless the caller is authenticated, so that strangers learn nothing. */
  know(request: FastifyRequest): Promise<void>;
  /** For a request with content: counts it as a failed attempt of its sender if it contains a secret of the host. */
  inspect(request: FastifyRequest): void;
  /** Counts a request as a failed attempt of its sender, once: its response tells that it contained a secret. */
  guessed(request: FastifyRequest): void;
  /** Of keys, tenants and addresses: what they use of their limits. */
  readonly limits: Pick<Limits, keyof SharedCounters | 'openStreams' | 'openStreamsOnAllNodes'>;
  readonly readTokens: ReadTokens;
  /** The routes of sessions and sign-in links. */
  routes(baseUrl: () => string): readonly Route[];
  /** Refuses all further requests that need a credential. */
  drain(): void;
}

/** More headers than this are refused. The parser bounds their total size. */
const MAX_HEADERS = 100;

export function createGate(config: GateConfig, ports: GatePorts): Gate {
  const { now, report, redactor } = ports;
  const stored = new EndedSessions(ports.expiring, now);
  const held = new HeldResponses({ ended: stored, timers: ports.timers });
  const ended = cutting(stored, held, ports.cluster);
  const checkHost = createCheckHost(config.bind, config.publicUrl);
  const checkOrigin = createCheckOrigin(config.cors.origins, config.publicUrl);
  const { jwt } = config;
  const scopesOf = currentScopes(config.keys, jwt !== undefined);
  const readTokens = new ReadTokens({ now, keys: ports.readTokenKeys, revoked: ended, scopesOf });
  const sessions = sessionsOf(config, { ...ports, ended }, scopesOf);
  const token =
    jwt === undefined ? null : createTokenCheck(jwt, { keys: new IssuerKeys({ url: jwt.jwksUrl, now, report }), now });
  const key = createKeyRing(config.keys, { isReachable: !isLoopback(config.bind), report });
  const authenticate = createAuthenticate({ key, token, sessions, isOwnOrigin: createIsOwnOrigin(config.publicUrl) });
  const limits = new Limits(config.limits, now);
  const links = new SignInLinks(ports.expiring, now);
  let draining = false;

  const attempt = createAttempt(limits);
  const known = (request: FastifyRequest): Caller | Promise<Caller> => {
    if (draining) throw stopping();
    if (isAnonymous(request)) throw noCredential();
    return attempt(request.ip, () => authenticate(request));
  };

  const byToken = (request: FastifyRequest, token: string): Promise<Caller> => {
    if (draining) throw stopping();
    return attempt(request.ip, () => readTokens.caller(token));
  };

  /**
   * Admits an authenticated caller. The rate limit comes before the scope check, because a refused request counts too.
   */
  const admit = (caller: Caller, reply: FastifyReply, route: KeyedRoute): Caller => {
    limits.request(caller);
    requireScope(caller, route.scope, route.alsoNeeds);
    whileOpen(reply, () => (route.holds ? limits.hold(caller) : limits.begin(caller)));
    if (route.holds) held.hold(caller, reply.raw);
    return caller;
  };

  return {
    ...guesses(limits, redactor),
    check(request, reply) {
      checkShape(request);
      checkHost(request.headers.host);
      checkOrigin(request, reply);
    },
    enter(request, reply, route) {
      const token = route.takesToken === true ? tokenIn(request) : null;
      const caller = token === null ? known(request) : byToken(request, token);
      return caller instanceof Promise ? caller.then((late) => admit(late, reply, route)) : admit(caller, reply, route);
    },
    enterOpen(request, reply, { admit: isGood }) {
      if (isGood === undefined) return undefined;
      if (draining) throw stopping();
      return attempt(request.ip, () => isGood({ request, reply }));
    },
    async know(request) {
      limits.request(await known(request));
    },
    limits,
    readTokens,
    routes: (baseUrl) => [...sessionRoutes(sessions), ...signInLinkRoutes({ sessions, links, baseUrl })],
    drain() {
      draining = true;
    },
  };
}

function sessionsOf(
  { publicUrl, keys }: GateConfig,
  { now, sessionKeys, ended, cluster }: GatePorts & { readonly ended: Ended },
  scopesOf: ReturnType<typeof currentScopes>,
): Sessions {
  const sessions = new Sessions({
    secure: publicUrl?.startsWith('https:') ?? false,
    now,
    keys: sessionKeys,
    ended,
    scopesOf,
    toolScopesOf: currentToolScopes(keys),
    opened: (session) => cluster.hint('session.opened', JSON.stringify(session)),
  });
  cluster.on('session.opened', (body) => sessions.learn(openedShape.parse(JSON.parse(body))));
  return sessions;
}

const openedShape = z.object({
  tenant: z.string(),
  principal: z.string().optional(),
  credential: z.string(),
  openedAt: z.number(),
});

/** What ends before its time takes its open streams with it, those at other nodes too. */
function cutting(ended: Ended, held: HeldResponses, cluster: GatePorts['cluster']): Ended {
  cluster.on('session.ended', (body) => held.cut(endableShape.parse(JSON.parse(body))));
  return {
    has: (one) => ended.has(one),
    count: (kind, tenant) => ended.count(kind, tenant),
    async add({ tenant, id }, expiresAt) {
      await ended.add({ tenant, id }, expiresAt);
      held.cut({ tenant, id });
      cluster.hint('session.ended', JSON.stringify({ tenant, id }));
    },
  };
}

const endableShape = z.object({ tenant: z.string(), id: z.string() });

function guesses(limits: Limits, redactor: GatePorts['redactor']): Pick<Gate, 'inspect' | 'guessed'> {
  const counted = new WeakSet<FastifyRequest>();
  const guessed = (request: FastifyRequest): void => {
    if (counted.has(request)) return;
    counted.add(request);
    limits.secretSent(request.caller ?? request.ip);
  };
  return {
    guessed,
    inspect(request) {
      const { body, headers } = request;
      // The log shows where redaction replaced a text, so it confirms a guess.
      const isHit = redactor !== null && redactor.secretIn([body, headers.tracestate]) !== null;
      if (isHit) guessed(request);
    },
  };
}

/** The token in the query. A key in the header comes first. */
function tokenIn({ query, headers }: FastifyRequest): string | null {
  if (headers.authorization !== undefined || typeof query !== 'object' || query === null) return null;
  return 'token' in query && typeof query.token === 'string' ? query.token : null;
}

/**
 * Holds a slot until the response closes. A client that left during the token check has already closed its response.
 */
function whileOpen({ raw, request }: FastifyReply, take: () => () => void): void {
  // Checks the request's socket: a pipelined response that waits behind others has no socket yet.
  if (request.raw.socket.destroyed) return;
  raw.once('close', take());
}

/** Refuses requests that two parsers could read differently, before any other code acts on them. */
function checkShape({ method, headers, raw }: FastifyRequest): void {
  const { rawHeaders, url = '' } = raw;
  // An absolute URL names its own host, so checking the Host header would not be enough.
  if (!url.startsWith('/') && url !== '*') throw malformed('The request is for an address, not for a path.');
  if (rawHeaders.length > 2 * MAX_HEADERS) throw malformed(`The request has more than ${MAX_HEADERS} headers.`);
  let hosts = 0;
  let types = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // Compares lengths first, because this runs for every header of every request.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 12 && name.toLowerCase() === 'content-type') types += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) throw malformed('The request has more than one Host header.');
  if (types > 1) throw malformed('The request has more than one Content-Type header.');
  if (credentials > 1) throw malformed('The request has more than one Authorization header.');
  if ((method === 'GET' || method === 'HEAD') && hasBody(headers)) {
    throw malformed(`A ${method} request has no body, but this one announces one.`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encoded(encoding, 'Content-Encoding');
  const transfer = headers['transfer-encoding'];
  // Node undoes only chunks. A proxy that also undoes the rest would read another body.
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') throw encoded(transfer, 'Transfer-Encoding');
}

const encoded = (encoding: string, header: string): TerminalError =>
  new TerminalError('unsupported_media_type', {
    message: `The body is encoded as ${quoted(encoding, 40)}, which this host does not read.`,
    hint: `Send the body as it is, without ${header}.`,
  });

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
