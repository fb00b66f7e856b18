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
  /** In the router's notation: `:name` is one path segment. */
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

/** The methods that the path of a URL is served under; empty when it is not served at all. */
export function methodsOf(routes: readonly Pick<Route, 'method' | 'path'>[], path: string): string[] {
  return routes.filter((route) => pattern(route.path).test(path)).map((route) => route.method);
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.split('/').map(segmentPattern).join('/')}$`);
}

/** `:name` is any segment, `:name::verb` any that ends in `:verb`, everything else itself. */
function segmentPattern(segment: string): string {
  if (!segment.startsWith(':')) return segment.replaceAll('.', '\\.');
  const verb = segment.split('::')[1];
  return verb === undefined ? '[^/]+' : `[^/]+:${verb}`;
}
