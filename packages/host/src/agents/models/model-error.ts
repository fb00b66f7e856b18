/** Errors of model calls, in classes that decide whether the loop retries. */
import { type ErrorCode, type ModelErrorClass, quoted } from '@cairn/protocol';
import type { ModelFailure } from './turn.ts';

export interface ModelErrorOptions {
  /** A sentence, without its full stop when `said` follows. */
  readonly message: string;
  /** The provider's or its package's own text, unmodified. */
  readonly said?: string | undefined;
  /** Default: that of the error class. */
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

  /**
   * Its message without secrets. Redacts the provider's text before quoting and cutting, which would hide secrets from
   * the redactor.
   */
  told(redact: (text: string) => string): string {
    const { message, said } = this.#told;
    return sentence(redact(message), said === undefined ? undefined : redact(said));
  }
}

/** Maximum length of the quoted provider text. */
const MAX_SAID = 300;

const sentence = (message: string, said: string | undefined): string =>
  said === undefined ? message : `${message}: ${quoted(said, MAX_SAID)}.`;

/** Error classes for which the same request may succeed later. */
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

/** The failure as recorded, without secrets. Reports an unclassified error by its message and does not retry it. */
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
