/** JSON-RPC to a peer: single requests, and streams of updates over server-sent events. */
import { isCairnError, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import type { A2aVersion } from '../a2a/versions.ts';
import { isEventStream } from '../peers/json-values.ts';
import type { PeerCard } from './agent-card.ts';
import { malformed, ofStatus, RpcFailure, unanswered } from './peer-error.ts';
import { failureOf, type PeerFetch } from './peer-fetch.ts';

export interface RpcPorts {
  readonly peer: string;
  readonly card: PeerCard;
  readonly fetch: PeerFetch;
}

const methods = {
  '1.0': {
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    get: 'GetTask',
    list: 'ListTasks',
    cancel: 'CancelTask',
    subscribe: 'SubscribeToTask',
  },
  '0.3': {
    send: 'message/send',
    stream: 'message/stream',
    get: 'tasks/get',
    list: null,
    cancel: 'tasks/cancel',
    subscribe: 'tasks/resubscribe',
  },
} as const satisfies Record<A2aVersion, object>;

export type Operation = keyof (typeof methods)['1.0'];

export interface RpcRequest {
  readonly operation: Operation;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
}

/** Null for an operation that the version of the peer does not have. */
export async function requested(ports: RpcPorts, request: RpcRequest): Promise<Json | null> {
  const { peer } = ports;
  const response = await posted(ports, request, 'application/json');
  if (response === null) return null;
  try {
    return resultOf(peer, parsed(peer, await response.text()));
  } catch (error) {
    throw cut(peer, error, request.signal);
  }
}

/** The results of a stream. Ends when the peer ends it. */
export async function* streamed(ports: RpcPorts, request: RpcRequest): AsyncGenerator<Json, void, undefined> {
  const { peer } = ports;
  const response = await posted(ports, request, 'text/event-stream');
  if (response === null) return;
  try {
    // An error before the stream begins is plain JSON.
    if (!isEventStream(response.headers)) {
      yield resultOf(peer, parsed(peer, await response.text()));
      return;
    }
    if (response.body === null) throw unanswered(peer);
    for await (const data of eventsOf(response.body)) yield resultOf(peer, parsed(peer, data));
  } catch (error) {
    throw cut(peer, error, request.signal);
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let waiting: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void waiting.push(data) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    const ready = waiting;
    waiting = [];
    yield* ready;
  }
}

async function posted(
  { peer, card, fetch }: RpcPorts,
  { operation, params, signal }: RpcRequest,
  accept: string,
): Promise<Response | null> {
  const method = methods[card.version][operation];
  if (method === null) return null;
  const response = await fetch(card.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, 'a2a-version': card.version },
    body: JSON.stringify({ jsonrpc: '2.0', id: RPC_ID, method, params }),
    signal,
  });
  if (response.status === 200) return response;
  const failure = await failureIn(response);
  throw failure ?? ofStatus(peer, response.status);
}

/** Some peers send the error of a request with another HTTP status than 200. */
async function failureIn(response: Response): Promise<RpcFailure | null> {
  try {
    const body: Json = JSON.parse(await response.text());
    return errorIn(body);
  } catch {
    return null;
  }
}

/** Each request has a response of its own, so one id is enough. */
const RPC_ID = 1;

function parsed(peer: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(peer, 'it sent no JSON');
  }
}

function resultOf(peer: string, body: Json): Json {
  const failure = errorIn(body);
  if (failure !== null) throw failure;
  if (!isJsonObject(body) || body.result === undefined) throw malformed(peer, 'it sent no JSON-RPC response');
  if (body.id !== RPC_ID) throw malformed(peer, 'it answered another request than the one that was made');
  return body.result;
}

function errorIn(body: Json): RpcFailure | null {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return null;
  const { code, message } = body.error;
  return typeof code === 'number' ? new RpcFailure(code, typeof message === 'string' ? message : '') : null;
}

function cut(peer: string, error: unknown, signal: AbortSignal): unknown {
  if (isCairnError(error) || error instanceof RpcFailure) return error;
  if (signal.aborted) return signal.reason;
  return failureOf(peer, error);
}
