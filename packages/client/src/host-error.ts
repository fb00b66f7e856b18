/** Converts a refused request into a typed error: the host's error envelope if present, else the HTTP status. */
import { CairnError, type ErrorCode, type ErrorDetails, errorKinds, quoted } from '@cairn/protocol';

/** What a host, or a proxy before it, refused. `code` is one of Cairn's; `details` and `hint` are the host's. */
export class HostError extends CairnError {
  override readonly name = 'HostError';
  /** The HTTP status. */
  readonly status: number;
  /** The code as the host wrote it, also one that this version does not know; null when the answer had none. */
  readonly wireCode: string | null;
  override readonly retryable: boolean;

  constructor(refusal: Refusal) {
    const { code, message, details, hint } = refusal;
    super(code, { message, ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) });
    this.status = refusal.status;
    this.wireCode = refusal.wireCode;
    this.retryable = mayPass(refusal.status, code);
  }
}

interface Refusal {
  readonly code: ErrorCode;
  readonly wireCode: string | null;
  readonly status: number;
  readonly message: string;
  readonly hint: string | undefined;
  readonly details: ErrorDetails | undefined;
}

interface Envelope {
  readonly error: string;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** Maximum characters read of an error body. */
const MAX_REFUSAL_CHARS = 65_536;

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
  501: 'capability_not_provided',
};

/** Reads the body of an error response and returns the error to throw. */
export async function hostError(response: Response, what: string): Promise<HostError> {
  const text = await startOf(response);
  const envelope = parseEnvelope(text);
  const known = envelope !== null && Object.hasOwn(errorKinds, envelope.error);
  const { hint, ...rest } = envelope?.details ?? {};
  const retryAfterMs = askedWaitMs(response.headers.get('retry-after'), rest);
  const details = retryAfterMs === null ? rest : { ...rest, retryAfterMs };
  return new HostError({
    code: known ? (envelope.error as ErrorCode) : fallbackCode(response.status),
    wireCode: envelope?.error ?? null,
    status: response.status,
    message: envelope?.message ?? `${what} answered ${response.status}${text === '' ? '' : ` with ${quoted(text)}`}.`,
    hint: typeof hint === 'string' ? hint : undefined,
    details: Object.keys(details).length === 0 ? undefined : details,
  });
}

/** 501 and 505 name what the host cannot do at all; a lost race for an idempotency key is over in a moment. */
const mayPass = (status: number, code: ErrorCode): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && status !== 501 && status !== 505) ||
  code === 'idempotency_in_flight';

const fallbackCode = (status: number): ErrorCode =>
  codeOfStatus[status] ??
  (status >= 500 || status === 408 || status === 425 ? 'service_unavailable' : 'validation_error');

async function startOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (text.length < MAX_REFUSAL_CHARS) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The status suffices; a partial body is used if it can be parsed.
  }
  await reader.cancel().catch(() => undefined);
  return text;
}

function parseEnvelope(text: string): Envelope | null {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null) return null;
    const { error, message, details } = body as Record<string, unknown>;
    if (typeof error !== 'string' || typeof message !== 'string') return null;
    return typeof details === 'object' && details !== null
      ? { error, message, details: details as ErrorDetails }
      : { error, message };
  } catch {
    return null;
  }
}

/** The header, only in its form in seconds (a date would need a shared clock); without it what the details say. */
function askedWaitMs(header: string | null, details: ErrorDetails): number | null {
  if (header !== null && /^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const { retryAfterMs, retryAfter } = details;
  if (typeof retryAfterMs === 'number' && retryAfterMs >= 0) return retryAfterMs;
  return typeof retryAfter === 'number' && retryAfter >= 0 ? retryAfter * 1000 : null;
}
