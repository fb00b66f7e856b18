/** Why a call of a model failed, told in classes that decide what happens next. */
import { type ErrorCode, quoted } from '@cairn/protocol';
import type { ModelErrorClass, ModelFailure } from './turn.ts';

export interface ModelErrorOptions {
  readonly message: string;
  /** Default: that of the class. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly class: ModelErrorClass;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelErrorClass, { message, retryable, retryAfterMs, cause }: ModelErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.class = kind;
    this.retryable = retryable ?? mayPass.has(kind);
    this.retryAfterMs = retryAfterMs;
  }
}

/** What may be better the next time, with the request as it is. */
const mayPass: ReadonlySet<ModelErrorClass> = new Set([
  'rate_limited',
  'overloaded',
  'timeout',
  'network',
  'bad_stream',
]);

const codes: Readonly<Partial<Record<ModelErrorClass, ErrorCode>>> = {
  rate_limited: 'rate_limited',
  capability: 'capability_not_provided',
  not_configured: 'model_not_configured',
};

/** As it is recorded. What nobody classified is told as it is, and not tried again. */
export function failureOf(error: unknown): ModelFailure {
  if (!(error instanceof ModelError)) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      class: 'unknown',
      code: 'model_call_failed',
      message: `The call of the model failed: ${quoted(message, 500)}`,
      retryable: false,
    };
  }
  const { class: kind, message, retryable, retryAfterMs } = error;
  return {
    class: kind,
    code: codes[kind] ?? 'model_call_failed',
    message,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
