/** HTTP requests for tests: with a key and a body, or with headers that `fetch` would not send. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '@cairn/protocol';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

export interface Ask {
  /** Null sends no key. */
  readonly key?: string | null;
  readonly body?: Json;
  /** Sent unchanged instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Reads only the first piece of the response, because it has no end. */
  readonly isEndless?: boolean;
}

export async function askUrl(url: string, method: string, ask: Ask = {}): Promise<Reply> {
  const { key = null } = ask;
  const content = ask.raw ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body));
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...ask.headers,
    },
    ...(content === undefined ? {} : { body: content }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  });
  const text = ask.isEndless === true && response.ok ? await firstPiece(response) : await response.text();
  const isJson = text !== '' && (response.headers.get('content-type')?.startsWith('application/json') ?? false);
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as JsonObject) : {},
  };
}

async function firstPiece({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

/** Sends a request with headers that `fetch` would reject or change. */
export function rawGet(port: number, path: string, headers: Record<string, string>): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}
