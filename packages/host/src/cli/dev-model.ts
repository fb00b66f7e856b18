/** `cairn dev --model`: the configuration of one model, from two words instead of JSON. */
import { usageError } from './usage-error.ts';

/** The variable with the API key of a provider. */
const keyVariables: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  openai: 'OPENAI_API_KEY',
};

export interface ModelFlags {
  /** `<provider>/<model>`. */
  readonly model?: string | undefined;
  /** The address of a server that speaks the OpenAI API. */
  readonly modelUrl?: string | undefined;
}

/** Values for the configuration: empty without a model. */
export function modelConfig({ model, modelUrl }: ModelFlags): Readonly<Record<string, unknown>> {
  if (model === undefined) {
    if (modelUrl === undefined) return {};
    throw usageError('--model-url needs --model, the name of a model at that address.', 'Add --model local/qwen3.');
  }
  const [, provider = '', name = ''] = /^([A-Za-z0-9][A-Za-z0-9._-]*)\/(\S+)$/.exec(model) ?? [];
  if (name === '') throw usageError(`${JSON.stringify(model)} is not a model.`, 'Use the form openai/gpt-5.');
  const configured = (settings: Readonly<Record<string, unknown>>) => ({
    models: { providers: { [provider]: settings }, default: model },
  });
  if (modelUrl !== undefined) return configured({ kind: 'openai-compatible', baseUrl: modelUrl });
  const variable = Object.hasOwn(keyVariables, provider) ? keyVariables[provider] : undefined;
  if (variable === undefined) {
    throw usageError(
      `Cairn does not know the provider ${JSON.stringify(provider)}; it knows ${Object.keys(keyVariables).join(', ')}.`,
      'For a server that speaks the OpenAI API, add its address: --model-url http://127.0.0.1:11434/v1',
    );
  }
  return {
    ...configured({ kind: provider, apiKey: { secret: provider } }),
    secrets: { [provider]: { env: variable } },
  };
}
