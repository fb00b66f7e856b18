/** The key of a model request by what it means: equal requests have equal keys, whoever sends them and however they are sent. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Sha256 } from '../../engine/ports.ts';
import { canonicalText } from '../../engine/values/canonical.ts';

/** A request reduced to what changes its answer; what is absent is left out, never null. */
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
  /** Of the provider's own, by their names there. */
  readonly providerOptions?: Readonly<Record<string, Json>>;
}

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

/** The canonical JSON of an object whose values are canonical JSON already; its names are plain words. */
const objectText = (parts: Readonly<Record<string, string>>): string =>
  `{${Object.keys(parts)
    .toSorted()
    .map((name) => `"${name}":${parts[name]}`)
    .join(',')}}`;

/** What was said in earlier turns comes again with each turn, as the same objects, which nobody changes. */
const texts = new WeakMap<object, string>();

function messageText(message: Json): string {
  if (typeof message !== 'object' || message === null) return canonicalText(message);
  const known = texts.get(message);
  if (known !== undefined) return known;
  const text = canonicalText(message);
  texts.set(message, text);
  return text;
}

/** UTF-16 code units, which is how strings compare here. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
