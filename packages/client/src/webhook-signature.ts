/** Verifies the signature and the age of a webhook delivery or a callback, and returns its content. */
import { type EventDoc, type InterruptCallback, quoted, TerminalError } from '@cairn/protocol';
import { now } from './timers.ts';

export interface SignedDelivery {
  /** The secret from the registration of the webhook, or the callback secret. */
  readonly secret: string;
  /** Of the request: `Headers`, or the plain object of a Node request. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body. A parsed and reserialised body has another signature. */
  readonly body: string | Uint8Array;
  /** How old or how far ahead the delivery may be, in seconds. Default 300. */
  readonly toleranceSeconds?: number;
  /** The time to judge its age by, in ms since 1970. Default: now. */
  readonly at?: number;
}

export interface Delivery {
  readonly webhookId: string;
  readonly eventType: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly event: EventDoc;
}

/**
 * Returns the delivery if its signature is valid and recent, else throws `unauthenticated`. Within the tolerance a delivery may
 * arrive twice, from the host or from an eavesdropper: deduplicate by `eventId`.
 */
export async function verifyWebhook(signed: SignedDelivery): Promise<Delivery> {
  const body = await verified(signed);
  return {
    ...(body as Omit<Delivery, 'webhookId' | 'eventType'>),
    webhookId: header(signed, 'webhook-id'),
    eventType: header(signed, 'event-type'),
  };
}

/** The same for what is posted to the `callbackUrl` of a run; its secret is that of `webhooks.callbackSecret`. */
export async function verifyCallback(signed: SignedDelivery): Promise<InterruptCallback> {
  return (await verified(signed)) as InterruptCallback;
}

async function verified(signed: SignedDelivery): Promise<unknown> {
  const timestamp = header(signed, 'timestamp');
  checkAge(timestamp, signed);
  const algorithm = header(signed, 'signature-algorithm');
  if (algorithm !== 'v1') throw refused(`its algorithm is ${quoted(algorithm, 40)}, not "v1"`);
  const signature = /^sha256=([0-9a-f]{64})$/.exec(header(signed, 'signature'))?.[1];
  if (signature === undefined) throw refused('its signature is not sha256= and 64 hex digits');
  const body = typeof signed.body === 'string' ? utf8(signed.body) : signed.body;
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8(signed.secret), hmac, false, ['verify']);
  // Compares in constant time.
  const isRight = await crypto.subtle.verify('HMAC', key, bytesOf(signature), joined(`${timestamp}.`, body));
  if (!isRight) throw refused('its signature is not that of the secret over its timestamp and body');
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw refused('its body is not JSON');
  }
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const DEFAULT_TOLERANCE_SECONDS = 300;

function checkAge(
  timestamp: string,
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, at = now() }: SignedDelivery,
): void {
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : null;
  if (seconds === null) throw refused(`its timestamp ${quoted(timestamp, 40)} is not a number of seconds`);
  const age = Math.round(at / 1000 - seconds);
  if (Math.abs(age) <= toleranceSeconds) return;
  throw refused(`it is ${Math.abs(age)} seconds ${age > 0 ? 'old' : 'ahead'}, and ${toleranceSeconds} are tolerated`);
}

/** Hosts send each header under two names; a later host may send only the newer one. */
function header({ headers }: SignedDelivery, name: string): string {
  for (const full of [`openwop-${name}`, `x-openwop-${name}`]) {
    const value = headers instanceof Headers ? headers.get(full) : headers[full];
    if (typeof value === 'string') return value;
    if (typeof value?.[0] === 'string') return value[0];
  }
  throw refused(`it has no header X-openwop-${name}`);
}

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));

function joined(text: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = utf8(text);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

const refused = (why: string): TerminalError =>
  new TerminalError('unauthenticated', {
    message: `The delivery is not to be trusted: ${why}.`,
    hint: 'Check that the secret is that of this webhook and that the body is passed on byte for byte.',
  });
