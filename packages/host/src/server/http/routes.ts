/** Routes as data. Registration, 405 responses, the API description and the route tests all use one table. */
import type { ErrorCode, Json } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RequestKey } from '../../log/ports/idempotency.ts';
import type { Caller, Scope } from '../access/auth.ts';

/** The input of the handler of an open route, which knows no caller: the request, and the reply for headers and streams. */
export interface HttpCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Set for a request with an `Idempotency-Key`; its response is recorded under this key. */
  readonly requestKey?: RequestKey | undefined;
}

/** The input of any other handler, with the caller. */
export interface Call extends HttpCall {
  readonly caller: Caller;
}

/** Returns JSON text to send unchanged, or undefined when the handler has written the response itself. */
export type Handler<Asked extends HttpCall = Call> = (call: Asked) => Promise<string | undefined>;

/** A success response. Without a shape it has no body, or a non-JSON body of type `contentType`. */
export interface AnswerDoc {
  readonly description: string;
  readonly shape?: z.ZodType;
  /** Default: application/json. */
  readonly contentType?: string;
  /** A client that accepts `text/event-stream` gets a stream instead. The data of each frame has this shape. */
  readonly orStream?: z.ZodType;
}

/** The documentation of a route, for the API description and the route tests. */
export interface RouteDoc {
  /** The operation id: unique, camelCase. */
  readonly id: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** The query parameters; a field is required unless optional. */
  readonly query?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** Request headers of this route, besides the common ones. */
  readonly headers?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** The JSON body; an optional shape may be absent. */
  readonly body?: z.ZodType;
  /** The body may also be bytes of any type. */
  readonly takesBytes?: true;
  /** Success responses by status. */
  readonly responses: Readonly<Record<number, AnswerDoc>>;
  /** JSON Schemas in the responses, by name, as components of the API description. Called once. */
  readonly schemas?: () => Readonly<Record<string, object>>;
  /** Error codes of this route, besides the common ones (`documentedErrors`). */
  readonly errors?: readonly ErrorCode[];
}

/** A key that the body of a request holds. */
export interface OwnKey {
  readonly key: string;
  /** Must be equal for two requests with the key. */
  readonly content: object;
  /** The client did not choose the key for repeats: what was refused may be sent again. */
  readonly forgetsRefusals?: true;
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** In the protocol's notation: `{name}` is one path segment, or its part before a `:verb`. */
  readonly path: string;
  readonly doc: RouteDoc;
  /** The handler records each success under the `Idempotency-Key` itself, together with its changes. */
  readonly recordsItself?: true;
  /** The key of the request when its protocol has one of its own, in the place of an `Idempotency-Key`. */
  readonly ownKey?: (call: HttpCall) => OwnKey | undefined;
  /** Its body becomes part of an event, and must fit in one. */
  readonly isEventBody?: true;
  /** A repeated request is meant to repeat its effect, so the `Idempotency-Key` is ignored. */
  readonly repeatable?: true;
  /** A GET that changes something, such as a state that counts once. It answers no HEAD. */
  readonly isOnce?: true;
  /** The response contains a secret, so it is sealed when recorded for an `Idempotency-Key`. */
  readonly answersSecret?: true;
  /** For a protocol that tells errors with status 200: the body for an error outside the handler; null for the usual one. */
  readonly errorText?: (error: unknown) => string | null;
}

/** A route for callers with its scope. */
export interface KeyedRoute extends RouteBase {
  readonly scope: Scope;
  /** A second scope that the caller must have. */
  readonly alsoNeeds?: Scope;
  /** The request may stay open for long and counts towards the open-stream limits. */
  readonly holds?: true;
  /**
   * What such a request takes after its first step, in milliseconds: few of them begin in one turn of the event loop.
   * Undefined, and the default: what one takes that reads a stream, or starts the run of an agent.
   */
  readonly laterMs?: (call: Call) => number | undefined;
  /** A read token in the query, `?token=`, admits a caller too. The handler looks the run up with `visibleRun`. */
  readonly takesToken?: true;
  /**
   * Reads the body itself, whatever its type. Called once, before the handler. Returns what identifies the body for an
   * `Idempotency-Key`.
   */
  readonly receive?: (call: Call) => Promise<Json>;
  readonly handle: Handler;
  /**
   * Answers with more than the recorded text, such as a stream: called with the text of a success, also when an
   * `Idempotency-Key` repeats it. What it returns is sent instead.
   */
  readonly follow?: (call: Call, text: string) => Promise<string | undefined>;
}

/** A route without authentication: it neither requires nor reads a key. */
export interface OpenRoute extends RouteBase {
  readonly scope: null;
  /** For a path with a credential: throws if it is invalid, before the body is read or anything is stored. */
  readonly admit?: (call: HttpCall) => Promise<void>;
  readonly handle: Handler<HttpCall>;
}

export type Route = KeyedRoute | OpenRoute;

/** A path parameter, decoded by the router. */
export function pathParam(call: HttpCall, name: string): string {
  return (call.request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** A query parameter; of a repeated one, the last value. */
export function queryParam(call: HttpCall, name: string): string | undefined {
  const value = (call.request.query as Readonly<Record<string, string | string[] | undefined>>)[name];
  return Array.isArray(value) ? value.at(-1) : value;
}

/** The path in the router's syntax: literal colons are doubled, and a parameter before one stops there. */
export const routerPath = (path: string): string =>
  path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(:?)/g, (_, name: string, verb: string) => (verb === '' ? `:${name}` : `:${name}(^[^:/]+):`));

/**
 * The methods of a route. GET includes HEAD, except where a request may stay open, because its headers would be useless,
 * and where it counts once.
 */
export const methodsOf = (route: ServedRoute): readonly string[] =>
  route.method === 'GET' && !('holds' in route) && !('isOnce' in route) ? ['GET', 'HEAD'] : [route.method];

type ServedRoute = Pick<Route, 'method' | 'path' | 'isOnce'> & Pick<KeyedRoute, 'holds'>;

/** Returns a function that lists the methods served for a path; empty for an unknown path. */
export function methodFinder(routes: readonly ServedRoute[]): (path: string) => readonly string[] {
  // On paths with verbs a colon starts the verb; elsewhere it may be part of a name.
  const withVerbs = new Set(routes.map(({ path }) => /^(.*\}):/.exec(path)?.[1]));
  const known = routes.map((route) => {
    const source = route.path
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}(?=:)/g, '[^/:]+')
      .replaceAll(/\{\w+\}/g, withVerbs.has(route.path) ? '[^/:]+' : '[^/]+');
    return { methods: methodsOf(route), pattern: new RegExp(`^${source}$`) };
  });
  return (path) => known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
}

/** The error codes of a route: its own and those common to its kind. */
export const documentedErrors = ({ method, path, scope, repeatable, doc }: Route): readonly ErrorCode[] => [
  ...new Set<ErrorCode>([
    ...(doc.errors ?? []),
    ...(path.includes('{runId}') && doc.errors?.includes('not_found') ? commonErrors.ofRun : []),
    ...(scope === null ? [] : commonErrors.keyed),
    ...(method === 'GET' ? [] : commonErrors.body),
    ...(method === 'GET' || repeatable ? [] : commonErrors.idempotency),
    ...commonErrors.all,
  ]),
];

const commonErrors = {
  ofRun: ['run_purged'],
  keyed: ['unauthenticated', 'forbidden'],
  body: ['validation_error', 'payload_too_large', 'unsupported_media_type'],
  idempotency: ['idempotency_key_mismatch', 'idempotency_in_flight'],
  all: ['rate_limited', 'internal_error', 'service_unavailable'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;
