/** The HTTP surface: one Fastify app built from ports, every route out of one table. */
import { type Discovery, invariant, quoted, TerminalError } from '@cairn/protocol';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import type { Report, UniqueId } from '../engine/ports.ts';
import type { LiveFeed } from '../log/feed.ts';
import type { Store } from '../log/port.ts';
import { apiDescriptionRoutes } from './api-description.ts';
import { type Authenticate, type Caller, requireScope } from './auth.ts';
import { CommitWaiters } from './commit-waiters.ts';
import { discoveryRoutes } from './discovery.ts';
import { type ErrorWorld, rawErrorResponse, sendError } from './errors.ts';
import { EventStreams } from './event-streams.ts';
import { eventRoutes } from './events.ts';
import type { CheckHost } from './host-header.ts';
import { createOnce } from './idempotency.ts';
import { interruptRoutes } from './interrupts.ts';
import { parseJsonBody } from './json-body.ts';
import { pollRoutes } from './poll.ts';
import { methodFinder, type Route, routerPath } from './routes.ts';
import { runRoutes } from './runs.ts';
import { watchSilent } from './silent-connections.ts';
import type { Timers } from './timers.ts';
import { workflowRoutes } from './workflows.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key of a `/v1/` request is known. */
    caller: Caller | null;
  }
}

export interface ServerDeps {
  readonly engine: Engine;
  readonly store: Store;
  readonly feed: LiveFeed;
  readonly authenticate: Authenticate;
  readonly checkHost: CheckHost;
  readonly discovery: Discovery;
  readonly maxRequestBodyBytes: number;
  readonly timers: Timers;
  readonly uniqueId: UniqueId;
  readonly report: Report;
}

export interface Server {
  /** Everything that is served. */
  readonly routes: readonly Route[];
  /** Starts to serve; gives the port, which matters when 0 was asked for. */
  listen(port: number, bind: string): Promise<number>;
  /** Streams and long polls that are open. */
  readonly open: { readonly streams: number; readonly polls: number };
  /** Stops accepting, ends streams and polls, lets requests finish; cuts what is left after the time given. */
  close(withinMs: number): Promise<void>;
}

export function createServer(deps: ServerDeps): Server {
  const streams = new EventStreams(deps);
  const waiters = new CommitWaiters(deps.store.log, deps.timers);
  const { engine, store } = deps;
  const routes: readonly Route[] = [
    ...runRoutes({ engine, log: store.log, once: createOnce(store.records) }),
    ...eventRoutes({ log: store.log, streams, report: deps.report }),
    ...pollRoutes({ log: store.log, waiters }),
    ...interruptRoutes(engine),
    ...workflowRoutes({ engine, records: store.records }),
    ...discoveryRoutes(deps.discovery),
    ...apiDescriptionRoutes(() => routes),
  ];
  const app = createApp(deps, routes);
  const closeSilent = watchSilent(app.server);
  return {
    routes,
    get open() {
      return { streams: streams.size, polls: waiters.size };
    },
    async listen(port, bind) {
      await app.listen({ port, host: bind });
      const address = app.server.address();
      return typeof address === 'object' && address !== null ? address.port : port;
    },
    async close(withinMs) {
      const cut = deps.timers.after(withinMs, () => app.server.closeAllConnections());
      const closed = app.close();
      closeSilent();
      streams.close();
      waiters.close();
      await closed;
      cut();
    },
  };
}

function createApp(deps: ServerDeps, routes: readonly Route[]): FastifyInstance {
  const world: ErrorWorld = deps;
  const app = fastify({
    logger: false,
    bodyLimit: deps.maxRequestBodyBytes,
    // To receive a whole request; what is slower only holds a connection.
    requestTimeout: 30_000,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Node ids may be 128 characters, each up to nine bytes of percent-encoding.
    routerOptions: { maxParamLength: 1200 },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.write(rawErrorResponse(malformedRequest(error)));
      socket.destroy();
    },
    frameworkErrors: (error, _request, reply) => sendError(reply, error, world),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    body.length === 0 ? undefined : parseJsonBody(body),
  );
  app.decorateRequest('caller', null);
  // Hooks that call back: an async one costs every request a promise.
  app.addHook('onRequest', (request, _reply, done) => done(refusalOf(() => deps.checkHost(request.headers.host))));
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, world));
  const methodsOf = methodFinder(routes);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = methodsOf(path);
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    sendError(reply, notServed(request.method, path, methods), world);
  });
  for (const route of routes) register(app, route, deps.authenticate);
  return app;
}

/** The key and its scope come first: a caller without them learns nothing, not even whether the body was well-formed. */
function register(app: FastifyInstance, route: Route, authenticate: Authenticate): void {
  app.route({
    method: route.method,
    url: routerPath(route.path),
    onRequest: (request, _reply, done) =>
      done(
        refusalOf(() => {
          if (route.scope === null) return;
          request.caller = authenticate(request.headers.authorization);
          requireScope(request.caller, route.scope);
        }),
      ),
    handler: async (request, reply) => {
      const body = await handled(route, request, reply);
      if (body === undefined) return reply;
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  });
}

function handled(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
  if (route.scope === null) return route.handle({ request, reply });
  invariant(request.caller !== null, 'caller-known', { path: route.path });
  return route.handle({ caller: request.caller, request, reply });
}

/** What a check threw, as a hook hands it on. */
function refusalOf(check: () => void): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function notServed(method: string, path: string, methods: readonly string[]): TerminalError {
  if (methods.length > 0) {
    return new TerminalError('method_not_allowed', {
      message: `${quoted(path)} does not answer ${method}.`,
      hint: `Use ${methods.join(' or ')}.`,
    });
  }
  if (path.startsWith('/v1/') || path.startsWith('/.well-known/')) {
    return new TerminalError('not_found', { message: `There is nothing at ${quoted(path)}.` });
  }
  return new TerminalError('validation_error', {
    message: `${quoted(path)} has no version.`,
    hint: 'Every path begins with /v1/, but for /.well-known/openwop.',
  });
}

function malformedRequest(error: Error & { readonly code?: string }): TerminalError {
  return new TerminalError('validation_error', {
    message: `The request is not well-formed HTTP (${error.code ?? error.message}).`,
  });
}
