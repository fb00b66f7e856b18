/**
 * A fetch that is limited to one origin, follows no redirects and bounds the response. API keys reach only that origin.
 */
import { ModelError } from '../models/model-error.ts';

/** Larger than any valid response; a longer one fails. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function originFetch(origin: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) {
      throw new ModelError('invalid_request', {
        message: `A call to ${url.origin} was refused: only ${origin} is configured.`,
      });
    }
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new ModelError('network', {
        message: `${origin} answered with a redirect (${response.status}), which is not followed. Correct the baseUrl of the provider.`,
        retryable: false,
      });
    }
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded(origin)), { status, statusText, headers });
  };
}

function bounded(origin: string): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= MAX_ANSWER_BYTES) controller.enqueue(chunk);
      else
        controller.error(
          new ModelError('bad_stream', {
            message: `${origin} answered with more than ${MAX_ANSWER_BYTES} bytes.`,
            retryable: false,
          }),
        );
    },
  });
}
