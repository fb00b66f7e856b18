/** A bare A2A peer over real HTTP: the test says what each request gets; not shipped. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Json, JsonObject } from '@cairn/protocol';
import { portOf } from '../../../test/kit/port-of.ts';

/** A request as it arrived. */
export interface Received {
  /** The JSON-RPC method, or `card`. */
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

export interface Answer {
  /** One JSON-RPC result. */
  result(value: Json): void;
  error(code: number, message: string): void;
  /** Opens a stream of results. */
  stream(): Stream;
  readonly response: ServerResponse;
}

export interface Stream {
  send(value: Json): void;
  end(): void;
  /** Breaks the connection off. */
  cut(): void;
}

export type Script = (received: Received, answer: Answer) => void;

export interface OtherPeer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves at the next request of this method, or at once if one has arrived. */
  got(method: string): Promise<Received>;
  close(): Promise<void>;
}

export interface PeerOptions {
  /** Answers cards, too; without a card of its own, one of version 1.0 with streams is served. */
  readonly card?: (url: string) => Json | string;
  readonly cardHeaders?: Readonly<Record<string, string>>;
  readonly script: Script;
}

export const plainCard = (url: string, more: JsonObject = {}): JsonObject => ({
  name: 'Other',
  description: 'Another agent.',
  version: '1',
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  skills: [],
  ...more,
});

export async function otherPeer({ card = plainCard, cardHeaders = {}, script }: PeerOptions): Promise<OtherPeer> {
  const received: Received[] = [];
  const waiting = new Map<string, PromiseWithResolvers<Received>>();
  const note = (one: Received): void => {
    received.push(one);
    waiting.get(one.method)?.resolve(one);
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { headers } = request;
      if (request.method === 'GET') {
        note({ method: 'card', params: {}, headers });
        const isKnown = cardHeaders.etag !== undefined && headers['if-none-match'] === cardHeaders.etag;
        response.writeHead(isKnown ? 304 : 200, { 'content-type': 'application/json', ...cardHeaders });
        const told = card(url);
        response.end(isKnown ? undefined : typeof told === 'string' ? told : JSON.stringify(told));
        return;
      }
      const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
      const one = { method, params, headers };
      note(one);
      script(one, answerOf(id, response));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    received,
    got(method) {
      const found = received.find((one) => one.method === method);
      if (found !== undefined) return Promise.resolve(found);
      const waits = waiting.get(method) ?? Promise.withResolvers<Received>();
      waiting.set(method, waits);
      return waits.promise;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerOf(id: Json, response: ServerResponse): Answer {
  const json = (body: JsonObject): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  };
  return {
    response,
    result: (result) => json({ result }),
    error: (code, message) => json({ error: { code, message } }),
    stream() {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return {
        send: (result) => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`),
        end: () => void response.end(),
        // Once what was sent is on its way.
        cut: () => void response.write(':\n\n', () => response.destroy()),
      };
    },
  };
}

/** A task in a state, with a message of the agent. */
export const task = (state: string, text = '', more: JsonObject = {}): JsonObject => ({
  id: 'task-1',
  contextId: 'c',
  status: {
    state: `TASK_STATE_${state}`,
    timestamp: '2026-01-01T00:00:00Z',
    ...(text === '' ? {} : { message: { messageId: `said-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }),
  },
  ...more,
});

export const status = (state: string, text = ''): JsonObject => ({
  statusUpdate: { taskId: 'task-1', contextId: 'c', status: task(state, text).status ?? {} },
});
