/**
 * Loads the SDKs of providers on first use. Each gets an explicit URL and key, so that none reads them from the
 * environment.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { ModelError } from '../models/model-error.ts';
import type { ProviderKind } from './provider-config.ts';

export interface SdkOptions {
  /** The provider's name in the configuration. */
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly modelId: string;
}

/** Base URLs of the vendors; an OpenAI-compatible server has no default. */
export const vendorUrls: Readonly<Record<Exclude<ProviderKind, 'openai-compatible'>, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

export function languageModel(kind: ProviderKind, options: SdkOptions): Promise<LanguageModelV4> {
  return sdks[kind](options);
}

const sdks: Readonly<Record<ProviderKind, (options: SdkOptions) => Promise<LanguageModelV4>>> = {
  async openai(options) {
    const { createOpenAI } = await loaded('@ai-sdk/openai', () => import('@ai-sdk/openai'));
    // The chat interface stores nothing on the vendor's side between turns.
    return createOpenAI(settings(options)).chat(options.modelId);
  },
  async anthropic(options) {
    const { createAnthropic } = await loaded('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'));
    return createAnthropic(settings(options)).languageModel(options.modelId);
  },
  async google(options) {
    const { createGoogle } = await loaded('@ai-sdk/google', () => import('@ai-sdk/google'));
    return createGoogle(settings(options)).languageModel(options.modelId);
  },
  async 'openai-compatible'({ name, baseUrl, apiKey, headers, fetch, modelId }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({
      name,
      baseURL: baseUrl,
      ...(apiKey === undefined ? {} : { apiKey }),
      headers: { ...headers },
      fetch,
      includeUsage: true,
      supportsStructuredOutputs: true,
    }).chatModel(modelId);
  },
};

/** Without a key these SDKs would read one from the environment, which the configuration does not mention. */
function settings({ name, baseUrl, apiKey, headers, fetch }: SdkOptions) {
  if (apiKey === undefined) {
    throw new ModelError('auth', {
      message: `The provider ${name} has no key. Give it an apiKey in "models" of the configuration, or name a credential in the run.`,
    });
  }
  return { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch };
}

/** The SDKs are optional dependencies; without one, the other kinds still work. */
async function loaded<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new ModelError('not_configured', { message: `The package ${name} is not installed.`, cause });
  }
}
