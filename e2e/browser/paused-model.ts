/** A model that stops within a text until the test lets it go on. */
import type { JsonObject } from '@cairn/protocol';
import { chunk, fakeOpenAi, usageChunk } from '../../packages/host/test/kit/fake-openai.ts';

export interface PausedModel extends AsyncDisposable {
  /** The `models` of a host whose agents of the class `reasoning` use this model. */
  readonly models: {
    readonly providers: { readonly paused: { readonly kind: 'openai-compatible'; readonly baseUrl: string } };
    readonly classes: { readonly reasoning: string };
  };
  /** Sends the next passage. */
  goOn(): void;
}

/** It answers one call with all passages, a chunk a word, and stops before each but the first. */
export async function pausedModel(passages: readonly (readonly string[])[]): Promise<PausedModel> {
  const gates = passages.map(() => Promise.withResolvers<void>());
  let opened = 0;
  const goOn = () => gates[opened++]?.resolve();
  goOn();
  async function* chunks(): AsyncIterable<JsonObject> {
    for (const [at, words] of passages.entries()) {
      await gates[at]?.promise;
      for (const content of words) yield chunk({ content });
    }
    yield chunk({}, 'stop');
    yield usageChunk({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  }
  const server = await fakeOpenAi(() => ({ chunks: chunks() }));
  return {
    models: {
      providers: { paused: { kind: 'openai-compatible', baseUrl: server.url } },
      classes: { reasoning: 'paused/novel' },
    },
    goOn,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
