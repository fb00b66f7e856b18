/**
 * Requests whose form the SDK has checked before. A client says the same about itself with every request, so only what
 * differs is looked at again. The schemas of the SDK take 13 us for each request.
 */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
} from '@modelcontextprotocol/server';
import { LruMap } from '../../lru-map.ts';
import { idOf } from './rpc.ts';
import { MODERN } from './versions.ts';

/** Characters of an envelope that is remembered, and how many are. */
const MAX_TEXT = 1_000;
const MAX_KNOWN = 256;

const known = new LruMap<string, true>(MAX_KNOWN);

/** The headers that repeat the body. */
interface Repeated {
  readonly version: string | undefined;
  readonly method: string | undefined;
}

/** Whether the SDK would take it for a request of the current revision. False for what it has to look at. */
export function isKnownRequest(body: Json | undefined, { version, method }: Repeated): body is JsonObject {
  if (!isJsonObject(body) || version !== MODERN || typeof method !== 'string' || method === 'initialize') return false;
  if (body.jsonrpc !== '2.0' || body.method !== method || idOf(body) === null) return false;
  const text = Object.keys(body).length === 4 ? envelopeText(body) : null;
  return text !== null && known.get(text) !== undefined;
}

/** Remembers what a request of the current revision, which the SDK has accepted, says about its client. */
export function rememberRequest(body: JsonObject): void {
  const text = envelopeText(body);
  if (text !== null && text.length <= MAX_TEXT) known.set(text, true);
}

/** What the SDK checks besides the token of progress; null for a request without it. Other keys may hold anything. */
function envelopeText({ params }: JsonObject): string | null {
  const meta = isJsonObject(params) ? params._meta : undefined;
  if (!isJsonObject(meta) || meta[PROTOCOL_VERSION_META_KEY] !== MODERN) return null;
  const { progressToken } = meta;
  const isToken =
    progressToken === undefined || typeof progressToken === 'string' || Number.isSafeInteger(progressToken);
  if (!isToken || meta[RELATED_TASK_META_KEY] !== undefined) return null;
  const {
    [CLIENT_INFO_META_KEY]: info,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    [LOG_LEVEL_META_KEY]: level,
  } = meta;
  // In an array, an absent value and null would look the same.
  return capabilities === undefined ? null : JSON.stringify({ info, capabilities, level });
}
