/** The connection to a host: address, API key, sending and retrying of requests. */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import { waitAfter } from './backoff.ts';
import { hostError } from './host-error.ts';
import { type LinkedAbort, linkedAbort } from './linked-abort.ts';
import { pause, type Timers } from './timers.ts';

export interface Connection {
  /** Sends a request once and returns the response with an unread body. Throws a typed error if the host refuses. */
  send(request: HostRequest): Promise<Response>;
  /** Repeats what fails in a way that may pass, if the request is safe to repeat. */
  retried<Value>(request: HostRequest, act: (request: HostRequest) => Promise<Value>): Promise<Value>;
  /** Sends a request, retries it after a transient failure if that is safe, and reads the response. */
  call(request: HostRequest): Promise<Answer>;
  /** As `call`, but returns the body only. The client trusts the host to return the shape of its route. */
  json<Body>(request: HostRequest): Promise<Body>;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is sent as it is, with its own type, instead of `body`. */
  readonly content?: RequestContent;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** For the whole answer. Default: that of the connection. */
  readonly timeoutMs?: number | undefined;
  /** Whether the request is idempotent. Default: only reads are. */
  readonly repeatable?: boolean;
  /** Lets a browser keep the cookie of the answer. */
  readonly keepsCookie?: boolean;
}

export interface RequestContent {
  /** Null lets the host find the type. */
  readonly mimeType: string | null;
  readonly bytes: string | Uint8Array<ArrayBuffer> | Blob;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the answer has none. */
  readonly body: unknown;
}

/** An API key, or a function called before each request, which can renew an expired token. */
export type Key = string | (() => string | Promise<string>);

export interface ConnectionOptions {
  readonly url: string;
  readonly key: Key | undefined;
  readonly fetch: typeof fetch;
  readonly timers: Timers;
  readonly timeoutMs: number;
  readonly retries: number;
}

/** A call fails if the host asks it to wait longer. `follow` waits. */
const LONGEST_WAIT_IN_CALL_MS = 30_000;

export function connect(options: ConnectionOptions): Connection {
  const base = baseOf(options.url);
  const { timers } = options;

  async function send(request: HostRequest): Promise<Response> {
    const init = await initOf(request, options.key);
    let response: Response;
    try {
      response = await options.fetch(base + request.path, init);
    } catch (cause) {
      throw unreachable(cause, `${nameOf(request)} did not reach ${base}`, request.signal);
    }
    if (response.ok || response.status === 304) return response;
    throw await hostError(response, nameOf(request));
  }

  async function once(request: HostRequest): Promise<Answer> {
    const limit = linkedAbort(request.signal);
    const timeoutMs = request.timeoutMs ?? options.timeoutMs;
    const cancel = timers.after(timeoutMs, () => limit.abort(tooLate(request, timeoutMs)));
    try {
      return await answerOf(await send({ ...request, signal: limit.signal }), request, limit);
    } finally {
      cancel();
      limit.release();
    }
  }

  async function retried<Value>(request: HostRequest, act: (request: HostRequest) => Promise<Value>): Promise<Value> {
    const repeatable = request.repeatable ?? request.method === 'GET';
    for (let failures = 0; ; failures += 1) {
      try {
        return await act(request);
      } catch (error) {
        const wait = repeatable && failures < options.retries ? waitAfter(error, failures, timers) : null;
        if (wait === null || wait > LONGEST_WAIT_IN_CALL_MS) throw error;
        await pause(timers, wait, request.signal);
      }
    }
  }

  const call = (request: HostRequest): Promise<Answer> => retried(request, once);
  return {
    send,
    retried,
    call,
    json: async <Body>(request: HostRequest) => (await call(request)).body as Body,
  };
}

const nameOf = ({ method, path }: HostRequest): string => `${method} ${path}`;

/** Without trailing slashes, so that paths can be appended. */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url !== null && plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new TerminalError('validation_error', {
    message: `The address of the host must be an http or https URL without query and credentials, not ${quoted(text)}.`,
    hint: 'Give the address that the host prints when it is ready, for example http://127.0.0.1:4700.',
  });
}

async function initOf(request: HostRequest, key: Key | undefined): Promise<RequestInit> {
  const bearer = typeof key === 'function' ? await key() : key;
  const content = request.content ?? (request.body === undefined ? undefined : jsonOf(request.body));
  return {
    method: request.method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(content === undefined || content.mimeType === null ? {} : { 'content-type': content.mimeType }),
      ...request.headers,
    },
    // A request with a key sends no cookie, so the cookie cannot be what authorised it.
    credentials: bearer === undefined || request.keepsCookie ? 'include' : 'omit',
    redirect: 'error',
    cache: 'no-store',
    ...(content === undefined ? {} : { body: content.bytes }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
}

const jsonOf = (body: unknown): RequestContent => ({ mimeType: 'application/json', bytes: JSON.stringify(body) });

async function answerOf(response: Response, request: HostRequest, limit: LinkedAbort): Promise<Answer> {
  const { status, headers } = response;
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw unreachable(cause, `The answer to ${nameOf(request)} broke off`, limit.signal);
  }
  if (text === '') return { status, headers, body: undefined };
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch {
    throw new TerminalError('internal_error', {
      message: `${nameOf(request)} answered ${status} with ${quoted(text)} instead of JSON.`,
      hint: 'Check that the address is that of a Cairn or OpenWOP host, not of a page or a proxy before it.',
    });
  }
}

export const tooLate = (request: HostRequest, timeoutMs: number): RetryableError =>
  new RetryableError('service_unavailable', {
    message: `${nameOf(request)} was not answered within ${timeoutMs} ms.`,
    hint: 'Try again, or allow more time with timeoutMs.',
  });

/** Rethrows the reason of an abort. Any other cause is a network failure. */
function unreachable(cause: unknown, message: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return new RetryableError('service_unavailable', {
    message: `${message}: ${reasonOf(cause)}.`,
    hint: 'Check the address and that the host runs, then try again.',
    cause,
  });
}

/** Node says only that the fetch failed; the cause says why. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message;
}
