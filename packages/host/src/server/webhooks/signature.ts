/** The headers of a delivery: the webhook id, the event type, and a signature over the timestamp and body. */
import { createHmac, hash } from 'node:crypto';

export interface SignedDelivery {
  readonly webhookId: string;
  readonly eventType: string;
  readonly secret: string;
  readonly body: string;
  readonly now: number;
  /** Version of this program. */
  readonly version: string;
}

/** Each header is sent under its v1 name and its successor's name. */
const families = ['X-openwop-', 'OpenWOP-'];

export function deliveryHeaders(delivery: SignedDelivery): Record<string, string> {
  const timestamp = String(Math.floor(delivery.now / 1_000));
  const mac = createHmac('sha256', delivery.secret).update(`${timestamp}.${delivery.body}`).digest('hex');
  const fields = {
    'Webhook-Id': delivery.webhookId,
    'Event-Type': delivery.eventType,
    Timestamp: timestamp,
    Signature: `sha256=${mac}`,
    'Signature-Algorithm': 'v1',
  };
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `openwop-webhook-dispatcher/${delivery.version}`,
  };
  for (const family of families) for (const [name, value] of Object.entries(fields)) headers[family + name] = value;
  return headers;
}

/** Identifies a secret without revealing it. */
export const secretFingerprint = (secret: string): string => hash('sha256', secret, 'hex').slice(0, 8);
