/** One place that knows the host's address, the key and how a request is sent. */
import { type Json, RetryableError } from '@cairn/protocol';
import { responseError } from './response-error.ts';

export interface Connection {
  /** Sends a request and gives the response if it is 2xx; throws a typed error otherwise. */
  send(request: HostRequest): Promise<Response>;
  /** The same, with the JSON body of the answer. The host is trusted to answer with the shape its route promises. */
  json<Body>(request: HostRequest): Promise<Body>;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, from `/v1/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof fetch;
}

export function connect(options: ConnectionOptions): Connection {
  const base = options.url.replace(/\/+$/, '');

  async function send(request: HostRequest): Promise<Response> {
    const what = `${request.method} ${request.path}`;
    const init: RequestInit = {
      method: request.method,
      headers: {
        authorization: `Bearer ${options.key}`,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      redirect: 'error',
      cache: 'no-store',
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    };
    let response: Response;
    try {
      response = await options.fetch(base + request.path, init);
    } catch (cause) {
      throw unreachable(cause, `${what} did not reach ${base}`, request.signal);
    }
    if (response.ok) return response;
    throw await responseError(response, what);
  }

  async function json<Body>(request: HostRequest): Promise<Body> {
    const response = await send(request);
    try {
      return (await response.json()) as Json as Body;
    } catch (cause) {
      throw unreachable(cause, `The answer to ${request.method} ${request.path} broke off`, request.signal);
    }
  }

  return { send, json };
}

/** The caller's own abort passes through untouched; everything else is a network that failed. */
function unreachable(cause: unknown, message: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RetryableError('service_unavailable', {
    message: `${message}: ${reason}.`,
    hint: 'Check the address and that the host runs, then try again.',
    cause,
  });
}
