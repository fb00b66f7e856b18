/** JSON-RPC of A2A: requests, results and errors. Errors of the host become those of the protocol. */
import { type CairnError, errorKinds, isCairnError, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** The id of a request, which its responses repeat. */
export type RpcId = string | number | null;

export interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** The errors of A2A and of JSON-RPC, with the reason that version 1.0 names. */
const codes = {
  parse: [-32700, null],
  request: [-32600, null],
  method: [-32601, null],
  params: [-32602, 'INVALID_PARAMS'],
  taskNotFound: [-32001, 'TASK_NOT_FOUND'],
  notCancelable: [-32002, 'TASK_NOT_CANCELABLE'],
  unsupported: [-32004, 'UNSUPPORTED_OPERATION'],
  contentType: [-32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
  version: [-32009, 'VERSION_NOT_SUPPORTED'],
} as const;

type RpcErrorName = keyof typeof codes;

/** An error that the peer gets as the response to its request. */
export class RpcError extends Error {
  readonly code: number;
  readonly reason: string | null;
  /** The error of the host behind it. */
  readonly hostCode: string | undefined;

  constructor(name: RpcErrorName, message: string, hostCode?: string) {
    super(message);
    [this.code, this.reason] = codes[name];
    this.hostCode = hostCode;
  }
}

export const resultText = (id: RpcId, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });

export function errorText(id: RpcId, { code, message, reason, hostCode }: RpcError): string {
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'a2a-protocol.org',
    ...(hostCode !== undefined && { metadata: { code: hostCode } }),
  };
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(reason !== null && { data: [info] }) } });
}

/** Longest id of a request. It comes back with every event of a stream. */
const MAX_ID = 256;

/** Throws for a body that is no request. `id` of what it throws is what can be repeated. */
export function parseRpc(body: Json | undefined): RpcRequest {
  if (Array.isArray(body)) throw new RpcError('request', 'Batches are not supported: send one request at a time.');
  if (!isJsonObject(body)) throw new RpcError('request', 'The body is not a JSON-RPC request object.');
  const { jsonrpc, method, params = {} } = body;
  if (jsonrpc !== '2.0') throw new RpcError('request', 'jsonrpc must be "2.0".');
  if (body.id !== undefined && body.id !== null && idOf(body) === null) {
    throw new RpcError('request', `id must be a string of at most ${MAX_ID} characters or an integer.`);
  }
  if (typeof method !== 'string' || method === '') throw new RpcError('request', 'method must name a method of A2A.');
  if (!isJsonObject(params)) throw new RpcError('params', 'params must be an object.');
  return { id: idOf(body), method, params };
}

/** The id to repeat; null when there is none. */
export function idOf(body: Json | undefined): RpcId {
  const id = isJsonObject(body) ? body.id : null;
  if (typeof id === 'string' && id.length <= MAX_ID) return id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}

/** Statuses that peers get over HTTP, as from every other route: who they are, how much they ask, what broke. */
const ofTransport = (status: number): boolean => status === 401 || status === 403 || status === 429 || status >= 500;

/** The protocol's error for one of the host; null for one that is told over HTTP. */
export function rpcErrorOf(error: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  if (!isCairnError(error)) return null;
  if (ofTransport(errorKinds[error.code].status) || error.code === 'idempotency_in_flight') return null;
  return new RpcError(nameOfCode(error.code), said(error), error.code);
}

export const nameOfCode = (code: string): RpcErrorName => (unsupported.has(code) ? 'unsupported' : 'params');

const unsupported: ReadonlySet<string> = new Set(['conflict', 'capability_required', 'input_already_answered']);

const said = ({ message, hint }: CairnError): string => (hint === undefined ? message : `${message} ${hint}`);
