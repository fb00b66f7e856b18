/** A route as data, so that registration, the 405 answer, the API description and the tests over every route walk one table. */
import type { ErrorCode } from '@cairn/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RequestKey } from '../../log/ports/idempotency.ts';
import type { Caller, Scope } from '../access/auth.ts';

/** What the handler of an open route gets: the request, and the reply for headers, status and streams. */
export interface OpenCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Set for a request with an `Idempotency-Key`: its response is recorded under this key. */
  readonly requestKey?: RequestKey | undefined;
}

/** What every other handler gets: also who sent the request. */
export interface Call extends OpenCall {
  readonly caller: Caller;
}

/** JSON text goes out as it is; a handler that writes the response itself gives undefined. */
export type Handler<Asked extends OpenCall = Call> = (call: Asked) => Promise<string | undefined>;

/** One kind of success. Without a shape it has no body, or one that is not JSON: then `contentType` says what. */
export interface AnswerDoc {
  readonly description: string;
  readonly shape?: z.ZodType;
  /** Default: application/json. */
  readonly contentType?: string;
  /** Who accepts `text/event-stream` gets a stream instead. */
  readonly orStream?: true;
}

/** What a reader of the API learns about a route, and what the tests over every route know of it. */
export interface RouteDoc {
  /** The operation's name: unique, camelCase. */
  readonly id: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Its query parameters; a field that is not optional is required. */
  readonly query?: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** Its JSON body; an optional shape may be left out. */
  readonly body?: z.ZodType;
  /** The successes by status. */
  readonly responses: Readonly<Record<number, AnswerDoc>>;
  /** JSON Schemas that its answers hold: components of the API description, by name. Asked once. */
  readonly schemas?: () => Readonly<Record<string, object>>;
  /** Refusals of its own, beside those that any route gives (`documentedErrors`). */
  readonly errors?: readonly ErrorCode[];
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As the protocol writes it: `{name}` is one path segment, or its part before a `:verb`. */
  readonly path: string;
  readonly doc: RouteDoc;
  /** Its handler records every success under the `Idempotency-Key` itself, together with what the request changes. */
  readonly recordsItself?: true;
  /** Doing it again is what a second request asks for: an `Idempotency-Key` is not looked at. */
  readonly repeatable?: true;
  /** Its answer holds a secret: recorded for an `Idempotency-Key`, it is sealed. */
  readonly answersSecret?: true;
}

/** A route for callers whose key holds its scope. */
export interface KeyedRoute extends RouteBase {
  readonly scope: Scope;
  /** It may stay open for long, and counts against the limits of open streams. */
  readonly holds?: true;
  readonly handle: Handler;
}

/** A route for everybody: no key is asked for, and none is looked at. */
export interface OpenRoute extends RouteBase {
  readonly scope: null;
  /** Where the path holds a credential: throws for a wrong one, before the body is read or anything is written down. */
  readonly admit?: (call: OpenCall) => void;
  readonly handle: Handler<OpenCall>;
}

export type Route = KeyedRoute | OpenRoute;

/** A parameter of the route's path; the router has decoded it. */
export function pathParam(call: OpenCall, name: string): string {
  return (call.request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** A query parameter; of a repeated one, the last. */
export function queryParam(call: OpenCall, name: string): string | undefined {
  const value = (call.request.query as Readonly<Record<string, string | string[] | undefined>>)[name];
  return Array.isArray(value) ? value.at(-1) : value;
}

/** The same path as the router writes it: a colon of ours is doubled, and a name before one ends there. */
export const routerPath = (path: string): string =>
  path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(:?)/g, (_, name: string, verb: string) => (verb === '' ? `:${name}` : `:${name}(^[^:/]+):`));

/** The methods a route answers. HEAD comes with GET, but where a request may stay open: its headers would say nothing. */
export const methodsOf = (route: ServedRoute): readonly string[] =>
  route.method === 'GET' && !('holds' in route) ? ['GET', 'HEAD'] : [route.method];

type ServedRoute = Pick<Route, 'method' | 'path'> & Pick<KeyedRoute, 'holds'>;

/** Gives the methods that a request's path is served under; none when it is not served at all. */
export function methodFinder(routes: readonly ServedRoute[]): (path: string) => readonly string[] {
  // Where verbs are served, a colon begins one; elsewhere it may be part of a name.
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

/** The refusals of a route: those it describes, and those that every route of its kind has. */
export const documentedErrors = ({ method, scope, repeatable, doc }: Route): readonly ErrorCode[] => [
  ...new Set<ErrorCode>([
    ...(doc.errors ?? []),
    ...(scope === null ? [] : commonErrors.keyed),
    ...(method === 'GET' ? [] : commonErrors.body),
    ...(method === 'GET' || repeatable ? [] : commonErrors.idempotency),
    ...commonErrors.all,
  ]),
];

const commonErrors = {
  keyed: ['unauthenticated', 'forbidden'],
  body: ['validation_error', 'payload_too_large', 'unsupported_media_type'],
  idempotency: ['idempotency_key_mismatch', 'idempotency_in_flight'],
  all: ['rate_limited', 'internal_error', 'service_unavailable'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;
