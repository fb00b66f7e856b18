/**
 * Fetches a small JSON document of another host: a DID document, an agent card, a key set. What comes is untrusted, so
 * bytes, time, type and nesting are limited, and no redirect is followed.
 */
import { isCairnError, isJsonObject, type JsonObject, quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { Egress, OutboundResponse } from '../egress/egress.ts';
import { parseJsonBody } from '../http/json-body.ts';

export interface DocumentRequest {
  readonly url: string;
  /** What it is, for messages: "the agent card". */
  readonly what: string;
  /** Its content types, the preferred one first. */
  readonly types: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A key set or a document with hundreds of keys fits. */
export const MAX_DOCUMENT_BYTES = 131_072;
const TIMEOUT_MS = 3_000;

/** Throws a `CairnError` whose message names the origin alone: the rest of an address may be secret. */
export async function fetchDocument(
  egress: Pick<Egress, 'send'>,
  { url, what, types, headers = {} }: DocumentRequest,
): Promise<JsonObject> {
  const response = await egress.send({
    url,
    method: 'GET',
    headers: { accept: types.join(', '), 'accept-encoding': 'identity', 'user-agent': 'cairn', ...headers },
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_DOCUMENT_BYTES,
  });
  const refuse = (reason: string, hint?: string) => unusable(`${what} of ${new URL(url).origin}`, reason, hint);
  checkStatus(response, refuse);
  if (response.isCut) throw refuse(`it has more than ${MAX_DOCUMENT_BYTES} bytes`);
  const type = (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!types.includes(type)) throw refuse(`its type is ${quoted(type, 60)}, not ${types.join(' or ')}`);
  const document = parsed(response.body, refuse);
  if (!isJsonObject(document)) throw refuse('it is not a JSON object');
  return document;
}

type Refuse = (reason: string, hint?: string) => TerminalError;

function checkStatus({ status }: OutboundResponse, refuse: Refuse): void {
  if (status === 200) return;
  if (status >= 300 && status < 400)
    throw refuse('it leads to another address, which is not followed', 'Use the address that answers itself.');
  const why = `the response has the status ${status}`;
  if (status < 500 && status !== 429) throw refuse(why);
  throw new RetryableError('identity_unresolved', { message: refuse(why).message, hint: 'Try again later.' });
}

function parsed(body: Buffer, refuse: Refuse) {
  try {
    return parseJsonBody(body);
  } catch (error) {
    if (!isCairnError(error)) throw error;
    throw refuse(`it is refused: ${error.message.replace(/\.$/, '')}`);
  }
}

const unusable = (document: string, reason: string, hint?: string): TerminalError =>
  new TerminalError('identity_unresolved', {
    message: `${document[0]?.toUpperCase()}${document.slice(1)} cannot be used: ${reason}.`,
    hint: hint ?? 'Ask the operator of that host to correct it.',
  });
