/** JSON-RPC of MCP: results and errors. Errors of the host become those of the protocol. */
import { type CairnError, errorKinds, isCairnError, isJsonObject, type Json } from '@cairn/protocol';

/** The id of a request, which its response repeats. */
export type RpcId = string | number | null;

const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  noResource: -32002,
  header: -32020,
  version: -32022,
} as const;

/** An error that the client gets as the response to its request. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** Of the HTTP response. */
  readonly status: number;

  constructor(
    name: keyof typeof codes,
    message: string,
    more: { readonly data?: unknown; readonly status?: number } = {},
  ) {
    super(message);
    this.code = codes[name];
    this.data = more.data;
    this.status = more.status ?? 200;
  }
}

export const resultText = (id: RpcId, result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result });

export const errorText = (id: RpcId, { code, message, data }: McpError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });

/** A message of the host on the stream of a request. */
export const frameText = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

/** Longest id of a request. It comes back with the response. */
const MAX_ID = 256;

/** The id to repeat; null when there is none that may be repeated. */
export function idOf(body: Json | undefined): RpcId {
  const id = isJsonObject(body) ? body.id : null;
  if (typeof id === 'string' && id.length <= MAX_ID) return id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}

/** Statuses that clients get over HTTP, as from every other route: who they are, how much they ask, what broke. */
const ofTransport = (status: number): boolean => status === 401 || status === 403 || status === 429 || status >= 500;

/** The protocol's error for one of the host; null for one that is told over HTTP. */
export function mcpErrorOf(error: unknown): McpError | null {
  if (error instanceof McpError) return error;
  if (!isCairnError(error) || ofTransport(errorKinds[error.code].status)) return null;
  return new McpError('params', said(error), { data: { code: error.code } });
}

/** What an error of the host says to a client. */
export const said = ({ message, hint }: CairnError): string => (hint === undefined ? message : `${message} ${hint}`);
