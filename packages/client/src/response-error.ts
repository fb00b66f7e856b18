/** A refused request as a typed error: the host's own words where it gave them, else what the status says. */
import {
  type CairnError,
  type CairnErrorOptions,
  type ErrorCode,
  errorKinds,
  quoted,
  RetryableError,
  TerminalError,
} from '@cairn/protocol';

/** The code that stands for a status when the body names none of ours, e.g. because a proxy answered. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  410: 'interrupt_expired',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  500: 'internal_error',
};

interface Envelope {
  readonly error: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Reads the body of a response that is not 2xx and gives the error to throw. */
export async function responseError(response: Response, what: string): Promise<CairnError> {
  const text = await response.text().catch(() => '');
  const envelope = parseEnvelope(text);
  const known = envelope !== null && Object.hasOwn(errorKinds, envelope.error);
  const code = known ? (envelope.error as ErrorCode) : fallbackCode(response.status);
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
  const options: CairnErrorOptions = {
    message: envelope?.message ?? `${what} answered ${response.status}${text === '' ? '' : ` with ${quoted(text)}`}.`,
    details: {
      ...envelope?.details,
      status: response.status,
      ...(envelope !== null && !known ? { error: envelope.error } : {}),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    },
  };
  return mayPass(response.status, code) ? new RetryableError(code, options) : new TerminalError(code, options);
}

/** The wait a host asks for before the next try, from an error of `responseError`; null when it asks for none. */
export function retryAfterMs(error: CairnError): number | null {
  const ms = error.details?.retryAfterMs;
  return typeof ms === 'number' && ms >= 0 ? ms : null;
}

const mayPass = (status: number, code: ErrorCode): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500 || code === 'idempotency_in_flight';

const fallbackCode = (status: number): ErrorCode =>
  codeOfStatus[status] ??
  (status >= 500 || status === 408 || status === 425 ? 'service_unavailable' : 'validation_error');

function parseEnvelope(text: string): Envelope | null {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null) return null;
    const { error, message, details } = body as Record<string, unknown>;
    if (typeof error !== 'string' || typeof message !== 'string') return null;
    return typeof details === 'object' && details !== null
      ? { error, message, details: details as Readonly<Record<string, unknown>> }
      : { error, message };
  } catch {
    return null;
  }
}

/** Only the form in seconds: that is what OpenWOP hosts send, and a date would need a shared clock. */
function parseRetryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : null;
}
