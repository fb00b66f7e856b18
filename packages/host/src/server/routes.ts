/** A route as data, so that registration, the 405 answer and any later check walk one table. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Scope } from './auth.ts';

/** What a handler gets: the request, who sent it, and the reply for headers, status and streams. */
export interface Call {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** JSON text goes out as it is; a handler that writes the response itself gives undefined. */
export type Handler = (call: Call) => Promise<string | undefined>;

export interface Route {
  readonly method: 'GET' | 'POST';
  /** As the protocol writes it: `{name}` is one path segment, or its part before a `:verb`. */
  readonly path: string;
  readonly scope: Scope;
  readonly handle: Handler;
}

/** A parameter of the route's path; the router has decoded it. */
export function pathParam(call: Call, name: string): string {
  return (call.request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** A query parameter; of a repeated one, the last. */
export function queryParam(call: Call, name: string): string | undefined {
  const value = (call.request.query as Readonly<Record<string, string | string[] | undefined>>)[name];
  return Array.isArray(value) ? value.at(-1) : value;
}

/** The same path as the router writes it. Without the pattern it would take the verb's colon for a second parameter. */
export const routerPath = (path: string): string =>
  path.replace(/\{(\w+)\}(:?)/g, (_, name: string, verb: string) => (verb === '' ? `:${name}` : `:${name}(^[^:/]+)::`));

/** Gives the methods that a request's path is served under; none when it is not served at all. */
export function methodFinder(routes: readonly Pick<Route, 'method' | 'path'>[]): (path: string) => readonly string[] {
  const known = routes.map(({ method, path }) => {
    const source = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
    return { method, pattern: new RegExp(`^${source}$`) };
  });
  return (path) => known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}
