/** Why a call of a model failed, told in classes that decide what happens next. */
import { type ErrorCode, type ModelErrorClass, quoted } from '@cairn/protocol';
import type { ModelFailure } from './turn.ts';

export interface ModelErrorOptions {
  /** A sentence; without its full stop when `said` follows. */
  readonly message: string;
  /** What a provider or its package said, as it came. */
  readonly said?: string | undefined;
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
  readonly #told: Pick<ModelErrorOptions, 'message' | 'said'>;

  constructor(kind: ModelErrorClass, { message, said, retryable, retryAfterMs, cause }: ModelErrorOptions) {
    super(sentence(message, said), cause === undefined ? undefined : { cause });
    this.class = kind;
    this.#told = { message, said };
    this.retryable = retryable ?? mayPass.has(kind);
    this.retryAfterMs = retryAfterMs;
  }

  /** Its message without secrets. They are taken out of what was said before that is quoted or cut: afterwards they would not be found. */
  told(redact: (text: string) => string): string {
    const { message, said } = this.#told;
    return sentence(redact(message), said === undefined ? undefined : redact(said));
  }
}

/** Of what a provider or its package says. */
const MAX_SAID = 300;

const sentence = (message: string, said: string | undefined): string =>
  said === undefined ? message : `${message}: ${quoted(said, MAX_SAID)}.`;

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

/** As it is recorded, without secrets. What nobody classified is told as it is, and not tried again. */
export function failureOf(error: unknown, redact: (text: string) => string = (text) => text): ModelFailure {
  if (!(error instanceof ModelError)) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      class: 'unknown',
      code: 'model_call_failed',
      message: `The call of the model failed: ${quoted(redact(message), 500)}`,
      retryable: false,
    };
  }
  const { class: kind, retryable, retryAfterMs } = error;
  return {
    class: kind,
    code: codes[kind] ?? 'model_call_failed',
    message: error.told(redact),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
