/** What providers and their packages throw, as errors of our classes: what they say is quoted and cut, what was sent to them is left out. */
import { APICallError } from '@ai-sdk/provider';
import { quoted } from '@cairn/protocol';
import { ModelError } from '../models/model-error.ts';
import type { ModelErrorClass } from '../models/turn.ts';

/** `provider` is the name in the configuration. */
export function providerError(error: unknown, provider: string): ModelError {
  for (const cause of causes(error)) {
    if (cause instanceof ModelError) return cause;
    if (APICallError.isInstance(cause) && cause.statusCode !== undefined)
      return answered(cause, cause.statusCode, provider);
  }
  const { name, message, code } = (error ?? {}) as { name?: unknown; message?: unknown; code?: unknown };
  const said = quoted(typeof message === 'string' ? message : String(error), 300);
  if (typeof name === 'string' && garbage.test(name)) {
    return new ModelError('bad_stream', { message: `${provider} sent what is no answer: ${said}.`, cause: error });
  }
  const reason = reasonOf(error) ?? (typeof code === 'string' ? code : null);
  if (
    APICallError.isInstance(error) ||
    reason !== null ||
    (error instanceof TypeError && /fetch|terminated/.test(said))
  ) {
    return new ModelError('network', {
      message: `${provider} could not be reached, or the connection broke (${reason ?? said}).`,
      cause: error,
    });
  }
  return new ModelError('unknown', { message: `${provider} failed: ${said}.`, retryable: true, cause: error });
}

/** Names under which its packages say that an answer could not be read. */
const garbage = /JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated/;

function answered(error: APICallError, status: number, provider: string): ModelError {
  const body = `${error.message} ${error.responseBody ?? ''}`;
  const kind = classOf(status, body);
  return new ModelError(kind, {
    message: `${provider} answered ${status}: ${quoted(error.message, 300)}.`,
    ...(/insufficient_quota|billing/i.test(body) ? { retryable: false } : {}),
    retryAfterMs: retryAfter(error.responseHeaders ?? {}),
    cause: error,
  });
}

function classOf(status: number, body: string): ModelErrorClass {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  if (status >= 500) return 'overloaded';
  if (status === 413 || /context[ _-]?(length|window)|too many tokens|prompt is too long/i.test(body))
    return 'context_length';
  return /content[ _-]?(filter|policy)/i.test(body) ? 'content_filter' : 'invalid_request';
}

/** Seconds, or milliseconds in the header some have beside it. A date is left to our own backoff, for clocks differ. */
function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** The error and what it came of, outermost first. */
function* causes(error: unknown): Generator<unknown> {
  let current = error;
  for (let depth = 0; depth < 8 && current !== undefined && current !== null; depth++) {
    yield current;
    current = (current as { cause?: unknown }).cause;
  }
}

/** The code of the system or the connection underneath, such as ECONNREFUSED. */
function reasonOf(error: unknown): string | null {
  for (const cause of causes(error)) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  }
  return null;
}
