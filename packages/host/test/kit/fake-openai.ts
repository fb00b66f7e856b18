/** A loopback server for the OpenAI chat API. The test controls each response: valid, broken, slow or none. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@cairn/protocol';
import { portOf } from './port-of.ts';

/** A request that the server received. */
export interface FakeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
}

/** The server's response to one request. */
export type FakeReply =
  /** Sends stream chunks as they come, then `[DONE]`; `everyMs` is the delay between chunks. */
  | { readonly chunks: readonly JsonObject[] | AsyncIterable<JsonObject>; readonly everyMs?: number }
  /** Sends raw text: whole events, or garbage. `end`: finish the response, cut the connection, or leave it open. */
  | { readonly text: readonly string[]; readonly end: 'finish' | 'cut' | 'open' }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: JsonObject };

export interface FakeOpenAi extends AsyncDisposable {
  /** The value for `baseUrl`. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Resolves when a connection closes before its response is finished. */
  readonly abandoned: Promise<void>;
}

export async function fakeOpenAi(reply: (request: FakeRequest, index: number) => FakeReply): Promise<FakeOpenAi> {
  const requests: FakeRequest[] = [];
  const abandoned = Promise.withResolvers<void>();
  const server = createServer((incoming, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned.resolve();
    });
    void received(incoming).then((request) => {
      requests.push(request);
      answer(response, reply(request, requests.length - 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    abandoned: abandoned.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function received(incoming: IncomingMessage): Promise<FakeRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  return {
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: text === '' ? {} : JSON.parse(text),
  };
}

function answer(response: ServerResponse, reply: FakeReply): void {
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.body ?? {}));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if ('chunks' in reply) {
    void streamed(response, reply.chunks, reply.everyMs ?? 0);
    return;
  }
  for (const text of reply.text) response.write(text);
  if (reply.end === 'finish') response.end();
  // Destroys the connection after the written data is flushed, so that the client has received it.
  if (reply.end === 'cut') response.write('', () => response.destroy());
}

async function streamed(
  response: ServerResponse,
  chunks: readonly JsonObject[] | AsyncIterable<JsonObject>,
  everyMs: number,
): Promise<void> {
  for await (const chunk of chunks) {
    response.write(event(chunk));
    if (everyMs > 0) await pause(everyMs);
  }
  response.end('data: [DONE]\n\n');
}

export const event = (chunk: JsonObject): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** One chunk of a streamed response. */
export const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'fake-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** The last chunk when the request asks for usage. */
export const usageChunk = (usage: JsonObject): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'fake-1',
  choices: [],
  usage,
});

/** A fragment of a tool call. */
export const callFragment = (
  index: number,
  fields: { id?: string; name?: string; arguments?: string },
): JsonObject => ({
  tool_calls: [
    {
      index,
      ...(fields.id === undefined ? {} : { id: fields.id, type: 'function' }),
      function: {
        ...(fields.name === undefined ? {} : { name: fields.name }),
        arguments: fields.arguments ?? '',
      },
    },
  ],
});
