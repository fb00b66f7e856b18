/** Reads a POST of a client: which revision it speaks, and which request, notification or response it is. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, quoted } from '@cairn/protocol';
import { CLIENT_CAPABILITIES_META_KEY, classifyInboundRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Call } from '../http/routes.ts';
import { isKnownRequest, rememberRequest } from './known-envelopes.ts';
import { idOf, McpError, type RpcId } from './rpc.ts';
import type { Signed } from './signed.ts';
import { legacyRevisions, MODERN, mcpRevisions } from './versions.ts';

export interface McpRequest {
  readonly kind: 'request';
  readonly call: Call;
  readonly isModern: boolean;
  /** The client can continue a stream that was cut. */
  readonly isResumable: boolean;
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly session: Session;
}

export type Inbound =
  | McpRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject; readonly session: Session }
  | { readonly kind: 'response'; readonly id: RpcId; readonly result: JsonObject | null };

/** What a client said about itself: in its handshake, or in the request. */
export interface Session {
  /** Empty for a client without a session. */
  readonly id: string;
  /** Whether the client asks its user what the host asks it. */
  readonly canElicit: boolean;
}

const noSession: Session = { id: '', canElicit: false };

const sessionShape = z.object({ kind: z.literal('session'), id: z.string(), elicits: z.boolean() });

/** The session of a handshake. The client carries it, so the host keeps nothing for it. */
export function newSession(call: Call, params: JsonObject, signed: Signed): string {
  const elicits = elicitsIn(params.capabilities);
  return signed.sign(call.caller, { kind: 'session', id: randomUUID(), elicits });
}

/** Throws the protocol's error for what is no message of a revision that is served. */
export function inboundOf(call: Call, signed: Signed): Inbound {
  const { headers } = call.request;
  const body = call.request.body as Json | undefined;
  const header = (name: string): string | undefined => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const [version, method, name] = [header('mcp-protocol-version'), header('mcp-method'), header('mcp-name')];
  if (isKnownRequest(body, { version, method })) {
    requireHeaders(body, { version, method, name });
    return modernIn(call, body);
  }
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
    body,
  });
  if (route.kind === 'reject') throw rejected(route);
  if (Array.isArray(body) || !isJsonObject(body)) throw noBatch();
  if (body.id !== undefined && idOf(body) === null) {
    throw new McpError('request', 'id must be a string of at most 256 characters or an integer.');
  }
  if (route.kind === 'modern') {
    if (route.messageKind === 'request') requireHeaders(body, { version, method, name });
    requireModern(route.classification.revision);
    if (route.messageKind === 'request') rememberRequest(body);
    return modernIn(call, body);
  }
  if (version !== undefined && !legacyRevisions.some((served) => served === version)) throw notServed(version);
  if (body.method === undefined) {
    return { kind: 'response', id: idOf(body), result: isJsonObject(body.result) ? body.result : null };
  }
  const session = sessionOf(call, header('mcp-session-id'), signed);
  return messageIn(call, body, { session, isModern: false, isResumable: version === RESUMABLE });
}

function modernIn(call: Call, body: JsonObject): Inbound {
  const capabilities = metaOf(paramsOf(body))[CLIENT_CAPABILITIES_META_KEY];
  const session = { id: '', canElicit: elicitsIn(capabilities) };
  return messageIn(call, body, { session, isModern: true, isResumable: false });
}

/** Clients of older revisions do not expect an event without data. */
const RESUMABLE = '2025-11-25';

type Spoken = Pick<McpRequest, 'session' | 'isModern' | 'isResumable'>;

function messageIn(call: Call, body: JsonObject, spoken: Spoken): Inbound {
  const params = paramsOf(body);
  const method = String(body.method);
  if (body.id === undefined) return { kind: 'notification', method, params, session: spoken.session };
  return { kind: 'request', call, id: idOf(body), method, params, meta: metaOf(params), ...spoken };
}

const paramsOf = ({ params }: JsonObject): JsonObject => (isJsonObject(params) ? params : {});
const metaOf = ({ _meta: meta }: JsonObject): JsonObject => (isJsonObject(meta) ? meta : {});

/** A client that names no mode of elicitation shows forms. */
function elicitsIn(capabilities: Json | undefined): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined;
  return isJsonObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

function sessionOf({ caller }: Call, header: string | undefined, signed: Signed): Session {
  if (header === undefined) return noSession;
  const found = sessionShape.safeParse(signed.open(caller, header)).data;
  if (found !== undefined) return { id: found.id, canElicit: found.elicits };
  throw new McpError('request', 'There is no such session. Send initialize without Mcp-Session-Id.', { status: 404 });
}

interface StandardHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** The parameter that `Mcp-Name` repeats. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** The classifier has compared the version and the method, where they are given. */
function requireHeaders(body: JsonObject, { version, method, name }: StandardHeaders): void {
  if (version === undefined) throw badHeader('MCP-Protocol-Version is missing.');
  if (method === undefined) throw badHeader('Mcp-Method is missing.');
  const field = Object.hasOwn(named, method) ? named[method] : undefined;
  const inBody = field === undefined ? undefined : paramsOf(body)[field];
  if (typeof inBody !== 'string') return;
  if (name === undefined) throw badHeader('Mcp-Name is missing.');
  if (decoded(name.trim()) !== inBody) throw badHeader(`Mcp-Name is not the ${field} of the body.`);
}

const base64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/i;

/** A name that no header can hold is sent as Base64. */
function decoded(name: string): string {
  const [, encoded] = base64.exec(name) ?? [];
  return encoded === undefined ? name : Buffer.from(encoded, 'base64').toString();
}

function requireModern(revision: string | undefined): void {
  if (revision !== MODERN) throw notServed(revision ?? 'none');
}

const badHeader = (message: string): McpError =>
  new McpError('header', `${message} The headers must agree with the body.`, { status: 400 });

const notServed = (requested: string): McpError =>
  new McpError(
    'version',
    `This host does not speak MCP ${quoted(requested, 40)}. It speaks ${mcpRevisions.join(', ')}.`,
    {
      data: { supported: mcpRevisions, requested: requested.slice(0, 40) },
      status: 400,
    },
  );

const noBatch = (): McpError => new McpError('request', 'Batches are not supported: send one message at a time.');

interface Rejection {
  readonly httpStatus: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

function rejected({ httpStatus: status, code, message }: Rejection): McpError {
  const name = code === -32020 ? 'header' : code === -32022 ? 'version' : code === -32602 ? 'params' : 'request';
  // It quotes the request. A body that is no message is answered as in every other protocol here.
  return new McpError(name, message.slice(0, 500), name === 'request' ? {} : { status });
}
