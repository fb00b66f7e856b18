/**
 * HTTP fetch for agents. The operator permits addresses, the model can set few headers, and responses have a size
 * limit.
 */
import { z } from 'zod';
import { hostTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface HttpFetch {
  readonly url: string;
  readonly method: (typeof methods)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpFetched {
  readonly status: number;
  /** URL of the final response, after redirects. */
  readonly url: string;
  readonly contentType: string | null;
  /** Target of a redirect that is not followed. */
  readonly location: string | null;
  readonly body: Uint8Array;
  /** True when the body is longer than the part that was read. */
  readonly isCut: boolean;
}

/**
 * Throws `http_url_rejected` when the address or a redirect target is not permitted. Also throws `http_timeout` and
 * `http_network_error`.
 */
export interface HttpPort {
  fetch(request: HttpFetch): Promise<HttpFetched>;
}

const MAX_BODY_BYTES = 100_000;
const FETCH_TIMEOUT_MS = 20_000;

/**
 * Headers a model may set. The list excludes credentials, headers that could turn a read into a write, and headers that
 * select another host.
 */
const allowedHeaders = ['accept', 'accept-language', 'content-type', 'if-match', 'if-none-match'] as const;

const printable = z
  .string()
  .max(1_000)
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII text');

export const httpTool = (http: HttpPort): Tool =>
  hostTool({
    id: 'openwop:http.fetch',
    title: 'Fetch',
    description:
      'Calls an http address that this host permits, and gives status and body: JSON as data, text as text. GET unless you say otherwise.',
    input: z
      .strictObject({
        url: z.string().min(1).max(2048),
        method: z.enum(methods).default('GET'),
        headers: z.partialRecord(z.enum(allowedHeaders), printable).optional(),
        body: z.string().max(MAX_BODY_BYTES).optional(),
      })
      .refine(({ method, body }) => body === undefined || !isRead(method), { message: 'GET and HEAD have no body' }),
    safety: ({ method }) => (isRead(method) ? 'read' : 'write'),
    timeoutMs: FETCH_TIMEOUT_MS + 5_000,
    egress: 'safe-fetch',
    async run({ url, method, headers = {}, body }, { signal, idempotencyKey }) {
      const fetched = await http.fetch({
        url,
        method,
        // Lets the server recognize a call that is repeated after a crash.
        headers: isRead(method) ? headers : { ...headers, 'idempotency-key': idempotencyKey },
        ...(body === undefined ? {} : { body }),
        maxBytes: MAX_BODY_BYTES,
        timeoutMs: FETCH_TIMEOUT_MS,
        signal,
      });
      return shown(fetched);
    },
  });

const isRead = (method: HttpFetch['method']): boolean => method === 'GET' || method === 'HEAD';

function shown({ status, url, contentType, location, body, isCut }: HttpFetched): object {
  const about = {
    status,
    url,
    ...(contentType === null ? {} : { contentType }),
    ...(location === null ? {} : { location }),
    ...(isCut ? { isCut } : {}),
  };
  if (body.length === 0) return about;
  if (!isText(contentType)) return { ...about, bytes: body.length, note: 'The body is not text.' };
  const text = decoded(body, contentType);
  const json = isCut || !/\bjson\b/i.test(contentType ?? '') ? undefined : parsed(text);
  return json === undefined ? { ...about, text } : { ...about, json };
}

const isText = (contentType: string | null): boolean =>
  contentType === null || /^text\/|\b(json|xml|javascript|yaml|csv|x-www-form-urlencoded)\b/i.test(contentType);

function decoded(body: Uint8Array, contentType: string | null): string {
  const label = /;\s*charset="?([\w-]+)"?/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
