/** Creates the configured providers. Nothing is loaded or called before the first turn. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Model, modelCapabilities } from '../models/model-port.ts';
import type { Provider } from '../models/model-registry.ts';
import { originFetch } from './origin-fetch.ts';
import type { KnownModel, ProviderConfig } from './provider-config.ts';
import { streamOf } from './provider-model.ts';
import { languageModel, vendorUrls } from './provider-sdks.ts';

export interface ProviderPorts {
  readonly fetch: typeof fetch;
}

export function createProviders(
  configs: Readonly<Record<string, ProviderConfig>>,
  ports: ProviderPorts,
): ReadonlyMap<string, Provider> {
  return new Map(Object.entries(configs).map(([name, config]) => [name, providerOf(name, config, ports)]));
}

function providerOf(name: string, config: ProviderConfig, { fetch }: ProviderPorts): Provider {
  const baseUrl = config.baseUrl ?? (config.kind === 'openai-compatible' ? '' : vendorUrls[config.kind]);
  const guarded = originFetch(new URL(baseUrl).origin, fetch);
  const load = (modelId: string, apiKey: string | undefined): Promise<LanguageModelV4> => {
    const headers = Object.fromEntries(Object.entries(config.headers).map(([header, text]) => [header, text.reveal()]));
    return languageModel(config.kind, { name, baseUrl, apiKey, headers, fetch: guarded, modelId });
  };
  const modelOf = (modelId: string): Model => {
    const known: KnownModel = (Object.hasOwn(config.models, modelId) ? config.models[modelId] : undefined) ?? {};
    return {
      provider: name,
      model: modelId,
      capabilities: new Set(known.capabilities ?? modelCapabilities),
      contextTokens: known.contextTokens ?? null,
      prices: known.prices ?? null,
      isScripted: false,
      maxSilenceMs: config.maxSilenceMs,
      // The key is revealed per call and not kept. Building the model for each call costs microseconds.
      stream: (call) =>
        streamOf({ provider: name, load: () => load(modelId, call.credential ?? config.apiKey?.reveal()) }, call),
    };
  };
  return { name, listed: Object.keys(config.models), model: modelOf };
}
