/** The key of a model request by what it means: equal requests have equal keys, whoever sends them and however they are sent. */
import type { Json, JsonObject } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { Sha256 } from '../../engine/ports.ts';

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
  const { messages, tools } = request;
  const options = Object.entries(providerOptions).map(
    ([option, value]) => [`vendor.${provider}.${option}`, value] as const,
  );
  const keyed = {
    recipe: 'openwop-semantic-request-v2',
    provider,
    model,
    request: { ...request, messages, ...(tools === undefined ? {} : { tools: tools.toSorted(byName) }) },
    ...(options.length === 0 ? {} : { providerOptions: Object.fromEntries(options) }),
  };
  return sha256(canonicalize(keyed) ?? '', 'hex');
}

/** UTF-16 code units, which is how strings compare here. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
