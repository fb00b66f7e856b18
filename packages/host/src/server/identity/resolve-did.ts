/** Resolves a DID to its document. A document is evidence of who answers for the DID; nothing in it is acted on. */
import { isJsonObject, type Json, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import type { Egress } from '../egress/egress.ts';
import { type Did, didWebUrl, parseDid } from './did.ts';
import { didKeyDocument } from './did-key.ts';
import { fetchDocument } from './fetch-document.ts';

export interface DidEvidence {
  readonly did: string;
  /** Where the document came from; null for a document that is computed. */
  readonly url: string | null;
  readonly document: JsonObject;
  /** The keys that the document lists, at most `MAX_KEYS`. */
  readonly keys: readonly DidKey[];
}

export interface DidKey {
  readonly id: string;
  readonly type: string;
}

export interface DidPorts {
  readonly egress: Pick<Egress, 'send'>;
  /** Origins that the operator allows without TLS. A `did:web` is fetched with https from all others. */
  readonly plainOrigins: ReadonlySet<string>;
}

/** Of the origins that the operator allows, those without TLS. */
export const plainOriginsOf = (allow: readonly string[]): ReadonlySet<string> =>
  new Set(allow.map((origin) => new URL(origin)).flatMap((url) => (url.protocol === 'http:' ? [url.origin] : [])));

const DOCUMENT_TYPES = [
  'application/did+json',
  'application/did+ld+json',
  'application/did',
  'application/ld+json',
  'application/json',
];

const MAX_KEYS = 32;

export async function resolveDid(text: string, ports: DidPorts): Promise<DidEvidence> {
  const did = parseDid(text);
  if (did.method === 'key') {
    const document = didKeyDocument(did);
    return { did: did.did, url: null, document, keys: keysOf(document) };
  }
  const url = addressOf(did, ports);
  const document = await fetchDocument(ports.egress, { url, what: 'the DID document', types: DOCUMENT_TYPES });
  // Without this check, any host could serve the document of another DID as its own.
  if (document.id !== did.did) throw otherDocument(did.did, document.id);
  return { did: did.did, url, document, keys: keysOf(document) };
}

function addressOf(did: Did, { plainOrigins }: DidPorts): string {
  const url = didWebUrl(did);
  const plain = `http://${url.host}`;
  return plainOrigins.has(plain) ? `${plain}${url.pathname}` : url.href;
}

function keysOf({ verificationMethod: listed }: JsonObject): readonly DidKey[] {
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, MAX_KEYS).flatMap((method: Json) => {
    if (!isJsonObject(method) || typeof method.id !== 'string' || typeof method.type !== 'string') return [];
    return [{ id: method.id.slice(0, 256), type: method.type.slice(0, 64) }];
  });
}

const otherDocument = (did: string, id: Json | undefined): TerminalError =>
  new TerminalError('identity_unresolved', {
    message: `The document of ${quoted(did, 120)} is that of another DID: ${quoted(typeof id === 'string' ? id : 'none', 120)}.`,
    hint: 'Ask the operator of that host to serve the document with its own id.',
  });
