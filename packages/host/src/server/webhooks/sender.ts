/** One delivery attempt: limited to five seconds, successful only with a 2xx status. That of a webhook is signed. */
import { isCairnError } from '@cairn/protocol';
import type { Egress } from '../egress/egress.ts';
import { deliveryHeaders } from './signature.ts';

/** The result of one attempt. `skipped`: the subscriber does not want the row, or the row is gone. */
export type SendResult =
  | { readonly kind: 'delivered' | 'skipped' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface SenderPorts {
  readonly egress: Egress;
  readonly now: () => number;
  readonly version: string;
}

export interface Delivery {
  readonly url: string;
  readonly webhookId: string;
  readonly eventType: string;
  readonly secret: string;
  readonly body: string;
}

export const ATTEMPT_TIMEOUT_MS = 5_000;

/**
 * Bytes to read of the receiver's answer. It is not used, but reading a small answer to its end closes the connection
 * cleanly.
 */
const MAX_ANSWER_BYTES = 4_096;

export async function send(ports: SenderPorts, delivery: Delivery, signal: AbortSignal): Promise<SendResult> {
  const headers = deliveryHeaders({ ...delivery, now: ports.now(), version: ports.version });
  return post(ports.egress, { ...delivery, headers }, signal);
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function post(egress: Egress, { url, headers, body }: Post, signal: AbortSignal): Promise<SendResult> {
  try {
    const { status } = await egress.send({
      url,
      method: 'POST',
      headers,
      body,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      signal,
    });
    if (status >= 200 && status < 300) return { kind: 'delivered' };
    return { kind: 'failed', reason: `the receiver answered ${status}` };
  } catch (error) {
    if (!isCairnError(error)) throw error;
    return { kind: 'failed', reason: error.message };
  }
}
