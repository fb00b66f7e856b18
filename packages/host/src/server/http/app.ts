/** The Fastify app: parses and checks a request before its handler runs, and sends errors. */
import { invariant, quoted, TerminalError, thrownText } from '@cairn/protocol';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { LongWork } from '../../engine/shares/long-work.ts';
import { MAX_EVENT_BODY_BYTES } from '../../log/ports/rows.ts';
import type { HttpWatch } from '../../telemetry/http-watch.ts';
import type { Caller } from '../access/auth.ts';
import { answerPreflight, isPreflight } from '../access/cross-origin.ts';
import type { Gate } from '../access/gate.ts';
import { createDocs } from '../docs-site/docs.ts';
import { createPages } from '../studio/pages.ts';
import { type ErrorPorts, rawErrorResponse, sendError } from './errors.ts';
import {
  createHttpServer,
  type HttpServerOptions,
  MAX_HEADER_BYTES,
  REQUEST_WITHIN_MS,
  type SafetyHeaders,
} from './http-server.ts';
import { parseJsonBody } from './json-body.ts';
import { LONG_BODY_BYTES, LongBodies } from './long-bodies.ts';
import { OwnBodies } from './own-bodies.ts';
import { methodFinder, methodsOf, type Route, routerPath } from './routes.ts';
import { LARGE_BYTES, type UnreadBytes } from './unread-bytes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller of a route with a scope is authenticated. */
    caller: Caller | null;
    /** Set if its body takes milliseconds to check and to handle: lets the next one of its tenant be read. */
    longDone: (() => void) | null;
  }
}

export interface AppPorts extends ErrorPorts {
  readonly gate: Gate;
  readonly watch: HttpWatch;
  readonly httpServer: HttpServerOptions;
  readonly unread: UnreadBytes;
  /** The built files of Studio, whose pages are served beside the routes. */
  readonly studioFolder: string;
  readonly docsFolder: string;
  /** Reads and handles large bodies: a hundred that arrive at once take turns. */
  readonly longWork: LongWork;
}

/** The owner of responses to callers without a tenant, whose names are not empty. */
const STRANGERS = '';

const ownerOf = ({ caller }: FastifyRequest): string => caller?.tenant ?? STRANGERS;

export function createApp(ports: AppPorts, routes: readonly Route[]): FastifyInstance {
  const { gate, httpServer } = ports;
  const ownBodies = new OwnBodies();
  const app = fastify({
    logger: false,
    bodyLimit: ports.maxRequestBodyBytes,
    serverFactory: (handle) => createHttpServer(handle, httpServer),
    // The address of a request is that of the client, not of a trusted proxy. A false skips the search for one.
    trustProxy: httpServer.hasProxies && httpServer.connections.isTrustedProxy,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // An id may have 128 characters of up to nine bytes each, percent-encoded. An interrupt token contains several ids.
    routerOptions: { maxParamLength: 4096 },
    clientErrorHandler: (error, socket) => {
      if (!ownBodies.ends(error, socket)) return;
      if (socket.writable) socket.write(rawErrorResponse(unreadable(error), httpServer.headers));
      socket.destroy();
    },
    frameworkErrors: (error, _request, reply) => sendError(reply, error, ports),
  });
  const longBodies = new LongBodies(ports.longWork);
  readJsonOnly(app, longBodies);
  answerOddRequests(app, httpServer.headers);
  app.decorateRequest('caller', null);
  app.decorateRequest('longDone', null);
  ports.watch.attach(app, routes);
  // Callback hooks, because an async hook costs a promise per request.
  app.addHook('onRequest', (request, reply, done) => done(refusalOf(() => gate.check(request, reply))));
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, ports));
  const served = methodFinder(routes);
  const servePage = createDocs(ports.docsFolder, createPages(ports.studioFolder));
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = served(path);
    if (methods.length > 0 && isPreflight(request)) answerPreflight(reply, methods);
    else if (methods.length > 0 || !(await servePage(path, request, reply))) {
      if (methods.length > 0) reply.header('allow', methods.join(', '));
      else if (path.startsWith('/v1/') && !isPreflight(request)) await gate.know(request);
      sendError(reply, notServed(request.method, path, methods), ports);
    }
    return reply;
  });
  // Routes that read their body themselves, of whatever type.
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _body, done) => done(null));
    raw.addHook('preHandler', (request, reply, done) => {
      ownBodies.add(request.raw, reply.raw);
      done();
    });
    for (const route of routes) if (readsBody(route)) register(raw, route, { ...ports, longBodies });
  });
  for (const route of routes) if (!readsBody(route)) register(app, route, { ...ports, longBodies });
  return app;
}

const readsBody = (route: Route): boolean => route.scope !== null && route.receive !== undefined;

function readJsonOnly(app: FastifyInstance, longBodies: LongBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const charset = /;\s*charset="?([^";\s]*)/i.exec(request.headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && charset.toLowerCase() !== 'utf-8' && charset.toLowerCase() !== 'utf8') {
      throw new TerminalError('unsupported_media_type', {
        message: `The body has the charset ${quoted(charset, 40)}; JSON is UTF-8.`,
        hint: 'Send JSON with the header "Content-Type: application/json".',
      });
    }
    if (body.length < LONG_BODY_BYTES) return body.length === 0 ? undefined : parseJsonBody(body);
    const { value, done } = await longBodies.read(ownerOf(request), body);
    request.longDone = done;
    return value;
  });
}

/** Handles requests that Node would answer without an error envelope, or not at all. */
function answerOddRequests(app: FastifyInstance, headers: SafetyHeaders): void {
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(rawErrorResponse(notServed('CONNECT', '/', []), headers));
  });
  app.server.on('checkExpectation', (_request, response) => {
    const error = new TerminalError('validation_error', {
      message: 'This host does not know what the Expect header asks for.',
      hint: 'Leave Expect out, or send "Expect: 100-continue".',
    });
    response.socket?.end(rawErrorResponse(error, headers));
  });
}

interface RoutePorts extends AppPorts {
  readonly longBodies: LongBodies;
}

/**
 * The key and its scope are checked first. A caller without them learns nothing, not even whether the body is
 * well-formed.
 */
function register(app: FastifyInstance, route: Route, ports: RoutePorts): void {
  const { gate, unread, longBodies, maxRequestBodyBytes } = ports;
  app.route({
    errorHandler: (error, request, reply) => {
      const text = (request.caller && route.errorText?.(error)) ?? null;
      if (text === null) sendError(reply, error, ports);
      else reply.code(200).header('content-type', 'application/json; charset=utf-8').send(text);
    },
    bodyLimit: route.isEventBody ? Math.min(maxRequestBodyBytes, MAX_EVENT_BODY_BYTES) : maxRequestBodyBytes,
    method: [...methodsOf(route)],
    url: routerPath(route.path),
    onRequest: (request, reply, done) => {
      if (route.scope === null) return enteredOpen(() => gate.enterOpen(request, reply, route), done);
      // Responses differ per caller, and shared caches ignore cookies. Handlers may override this header.
      reply.header('cache-control', 'no-store');
      try {
        const caller = gate.enter(request, reply, route);
        if (caller instanceof Promise) {
          caller.then((known) => {
            request.caller = known;
            done();
          }, done);
          return;
        }
        request.caller = caller;
      } catch (error) {
        return done(errorOf(error));
      }
      done();
    },
    handler: async (request, reply) => {
      const inspect = () => {
        checkBody(route, request);
        if (route.method !== 'GET') gate.inspect(request);
      };
      const handle = () => handled(route, request, reply);
      const { longDone } = request;
      if (longDone === null) inspect();
      const body = await (longDone === null
        ? handle()
        : longBodies.handle(ownerOf(request), longDone, { inspect, handle }));
      if (body === undefined) return reply;
      // Others answer a change that has taken place, and are small.
      if (body.length >= LARGE_BYTES && route.method === 'GET') {
        unread.admit(ownerOf(request), reply.raw, body.length);
      }
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  });
}

/** Refuses a body that the route does not read, so that no caller takes it for effective. */
function checkBody({ method, path, doc }: Route, { body }: FastifyRequest): void {
  if (method === 'GET' || body === undefined) return;
  if (doc.body === undefined) {
    throw new TerminalError('validation_error', { message: `${method} ${path} takes no body.`, hint: 'Leave it out.' });
  }
  // Handlers of an optional body would treat null as absent.
  if (body === null) throw new TerminalError('validation_error', { message: 'The body must be an object, not null.' });
}

function handled(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
  if (route.scope === null) return route.handle({ request, reply });
  invariant(request.caller !== null, 'caller-known', { path: route.path });
  return route.handle({ caller: request.caller, request, reply });
}

/** A hook must pass an Error. */
const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(thrownText(thrown)));

/** Only a path with a credential takes a promise. */
function enteredOpen(enter: () => Promise<void> | undefined, done: (error?: Error) => void): void {
  try {
    const entering = enter();
    if (entering === undefined) done();
    else entering.then(() => done(), done);
  } catch (error) {
    done(errorOf(error));
  }
}

/** The error that a check throws, for a hook to pass on. */
function refusalOf(check: () => void): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return errorOf(error);
  }
}

/** A path below one of these names its version, or needs none. */
const servedBelow = ['/v1/', '/api/', '/.well-known/'];

function notServed(method: string, path: string, methods: readonly string[]): TerminalError {
  if (methods.length > 0) {
    return new TerminalError('method_not_allowed', {
      message: `This path does not answer ${method}.`,
      hint: `Use ${methods.join(' or ')}.`,
    });
  }
  if (servedBelow.some((start) => path.startsWith(start))) {
    return new TerminalError('not_found', {
      message: 'There is nothing at this path.',
      hint: 'GET /v1/openapi.json lists the paths.',
    });
  }
  return new TerminalError('validation_error', {
    message: 'The path has no version.',
    hint: 'Paths of runs begin with /v1/, those of conversations with /api/. GET /v1/openapi.json lists them.',
  });
}

/** The error for bytes that are not a valid request, by the parser's code. */
function unreadable(error: Error & { readonly code?: string }): TerminalError {
  const known: Readonly<Record<string, string>> = {
    HPE_HEADER_OVERFLOW: `The request line and headers are larger than ${MAX_HEADER_BYTES} bytes.`,
    ERR_HTTP_REQUEST_TIMEOUT: `The request did not arrive within ${REQUEST_WITHIN_MS / 1000} seconds.`,
  };
  return new TerminalError('validation_error', {
    message: known[error.code ?? ''] ?? `The request is not well-formed HTTP (${error.code ?? error.message}).`,
  });
}
