/**
 * The cache key of a model request: semantically equal requests have equal keys, regardless of caller and transport.
 */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Sha256 } from '../../engine/ports.ts';
import { canonicalText } from '../../engine/values/canonical.ts';

/** A request reduced to the fields that change its answer. Absent fields are omitted, never null. */
export interface SemanticRequest {
  readonly provider: string;
  readonly model: string;
  readonly request: {
    readonly messages: readonly Json[];
    readonly tools?: readonly (JsonObject & { readonly name: string })[];
    readonly temperature?: number;
    readonly topP?: number;
    readonly topK?: number;
    readonly responseFormat?: Json;
    readonly maxOutputTokens?: number;
    readonly stop?: Json;
    readonly seed?: number;
    readonly safetySettings?: Json;
  };
  /** Provider-specific options, under the provider's own names. */
  readonly providerOptions?: Readonly<Record<string, Json>>;
}

/** The key by which a branch finds the turn that its source was given for an equal request. */
export const requestKeyOf = (cacheKey: string): string => `model ${cacheKey}`;

/** Recipe `spec-rfc-0041`: 64 lowercase hex digits. */
export function llmCacheKey(semantic: SemanticRequest, sha256: Sha256): string {
  const { provider, model, request, providerOptions = {} } = semantic;
  const { messages, tools, ...rest } = request;
  const options = Object.entries(providerOptions).map(
    ([option, value]) => [`vendor.${provider}.${option}`, value] as const,
  );
  const parts: Record<string, string> = { messages: `[${messages.map(messageText).join(',')}]` };
  for (const [name, value] of Object.entries(rest)) parts[name] = canonicalText(value);
  if (tools !== undefined) parts.tools = canonicalText(tools.toSorted(byName));
  const keyed = {
    recipe: canonicalText('openwop-semantic-request-v2'),
    provider: canonicalText(provider),
    model: canonicalText(model),
    request: objectText(parts),
    ...(options.length === 0 ? {} : { providerOptions: canonicalText(Object.fromEntries(options)) }),
  };
  return sha256(objectText(keyed), 'hex');
}

/** Joins values that are already canonical JSON into a canonical object. Keys must need no escaping. */
const objectText = (parts: Readonly<Record<string, string>>): string =>
  `{${Object.keys(parts)
    .toSorted()
    .map((name) => `"${name}":${parts[name]}`)
    .join(',')}}`;

/** Caches the text of each message: every turn sends the earlier messages again as the same immutable objects. */
const texts = new WeakMap<object, string>();

function messageText(message: Json): string {
  if (typeof message !== 'object' || message === null) return canonicalText(message);
  const known = texts.get(message);
  if (known !== undefined) return known;
  const text = canonicalText(message);
  texts.set(message, text);
  return text;
}

/** Sorts by UTF-16 code units, the order of JavaScript string comparison. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
