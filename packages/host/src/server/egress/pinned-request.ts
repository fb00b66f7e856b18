/**
 * One HTTP request to addresses that are already checked. It resolves no name, follows no redirect and bounds the
 * response.
 */
import type { LookupAddress } from 'node:dns';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { utf8Size } from '../../utf8.ts';

export interface PinnedRequest {
  readonly url: URL;
  /** Where to connect, in order of preference; null lets the system resolve, for origins that the operator allows. */
  readonly addresses: readonly string[] | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Bytes to read of the response body; the connection is closed after them. */
  readonly maxBodyBytes: number;
  /** Aborts the exchange at any point. */
  readonly signal: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body was longer than the bytes read. */
  readonly isCut: boolean;
}

/**
 * Responses such as 103 before the one that counts. Each costs time to read and is no part of the body, so that a peer
 * could send them for as long as the request may take.
 */
const MAX_INFORMATION = 8;

/** Rejects with the socket's own error, or with the signal's reason. */
export function pinnedRequest(asked: PinnedRequest): Promise<OutboundResponse> {
  const { url, addresses, method, body, signal } = asked;
  const options: RequestOptions = {
    method,
    headers: { ...asked.headers, ...(body === undefined ? {} : { 'content-length': String(utf8Size(body)) }) },
    // A new connection per request: a kept-alive one would outlive the check of its address.
    agent: false,
    signal,
    ...(addresses === null ? {} : { lookup: lookupOf(addresses) }),
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const request = send(url, options, (response) => {
      readBody(response, asked.maxBodyBytes).then(resolve, reject);
    });
    let information = 0;
    request.on('information', () => {
      information += 1;
      if (information > MAX_INFORMATION) request.destroy(new Error('too many informational responses'));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Answers Node's DNS lookup with the checked addresses. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const entries: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    const fitting = entries.filter(
      ({ family }) => options.family === 0 || !options.family || options.family === family,
    );
    const first = fitting[0];
    if (first === undefined) callback(new Error('no checked address of the family asked for'), '', 0);
    else if (options.all === true) callback(null, fitting);
    else callback(null, first.address, first.family);
  };
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<OutboundResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  // Leaving the loop early destroys the response, and with it the connection.
  for await (const piece of response) {
    const chunk: Buffer = piece;
    const room = maxBytes - bytes;
    isCut = chunk.length > room;
    chunks.push(isCut ? chunk.subarray(0, room) : chunk);
    bytes += Math.min(chunk.length, room);
    if (isCut) break;
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), isCut };
}
