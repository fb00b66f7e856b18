/**
 * Converts errors of providers and their SDKs to `ModelError`. The provider's message is quoted and cut; the request is
 * left out.
 */
import { APICallError } from '@ai-sdk/provider';
import type { ModelErrorClass } from '@cairn/protocol';
import { ModelError } from '../models/model-error.ts';

/** `provider` is its name in the configuration. */
export function providerError(error: unknown, provider: string): ModelError {
  const chain = causesOf(error);
  const ours = chain.find((cause) => cause instanceof ModelError);
  if (ours !== undefined) return ours;
  const refused = chain.filter((cause) => APICallError.isInstance(cause)).find((call) => (call.statusCode ?? 0) >= 400);
  if (refused !== undefined) return answered(refused, provider);
  const said = error instanceof Error ? error.message : String(error);
  const unreadable = chain.some((cause) => garbage.test(String(nameOf(cause))));
  if (unreadable)
    return new ModelError('bad_stream', {
      message: `${provider} sent something that is not an answer`,
      said,
      cause: error,
    });
  const reason = reasonIn(chain);
  if (reason !== null || chain.some((cause) => APICallError.isInstance(cause) || cause instanceof TypeError)) {
    const message = `${provider} could not be reached, or the connection broke`;
    return new ModelError('network', { message, said: reason ?? said, cause: error });
  }
  return new ModelError('unknown', { message: `${provider} failed`, said, retryable: true, cause: error });
}

const nameOf = (cause: object): unknown => ('name' in cause ? cause.name : undefined);

/** Names of SDK errors for an unreadable response. */
const garbage = /JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated/;

function answered(error: APICallError, provider: string): ModelError {
  const status = error.statusCode ?? 0;
  const body = `${error.message} ${error.responseBody ?? ''}`;
  const kind = classOf(status, body);
  return new ModelError(kind, {
    message: `${provider} answered ${status}`,
    said: error.message,
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

/**
 * Reads seconds, or milliseconds from the header that some providers add. A date is ignored, because clocks differ: our
 * own backoff applies.
 */
function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): readonly object[] {
  const chain: object[] = [];
  let current = error;
  while (typeof current === 'object' && current !== null && chain.length < 8) {
    chain.push(current);
    current = 'cause' in current ? current.cause : undefined;
  }
  return chain;
}

/** The code of the underlying system or connection error, such as ECONNREFUSED. */
function reasonIn(chain: readonly object[]): string | null {
  const codes = chain.map((cause) => ('code' in cause ? cause.code : undefined));
  const found = codes.find((code): code is string => typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code));
  return found ?? null;
}
