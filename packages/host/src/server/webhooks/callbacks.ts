/** Posts to a run's `callbackUrl` when the run waits for an answer. Each attempt mints a new token to answer with. */
import { foldEventOf, isCairnError, isoTime, type OpenInterrupt } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { InterruptTokens } from '../inbox/interrupt-tokens.ts';
import { type Interrupts, openInterruptOf } from '../inbox/open-interrupt.ts';
import type { Policy } from './pump.ts';
import { type SenderPorts, type SendResult, send } from './sender.ts';

export interface CallbackPorts extends SenderPorts {
  readonly interrupts: Interrupts;
  readonly tokens: InterruptTokens;
  readonly baseUrl: () => string;
  /** The secret that signs a tenant's posts. */
  readonly secretOf: (tenant: string) => string;
}

/** Each run has its own receiver, so failures of one run do not open the circuit for the others. */
export const callbackPolicy: Policy = { maxAttempts: 8, maxInFlight: 16, window: 2_000, isOneReceiver: false };

export const callbackTypes = ['interrupt.requested'];

export async function tellCallback(
  ports: CallbackPorts,
  subscription: { readonly id: string; readonly tenant: string },
  row: Row,
  signal: AbortSignal,
): Promise<SendResult> {
  const url = await callbackUrlOf(ports, row);
  const interrupt = url === null ? null : await stillOpen(ports, row);
  if (url === null || interrupt === null) return { kind: 'skipped' };
  const body = callbackBody(ports, row, { interrupt, principal: await starterOf(ports, row) });
  const secret = ports.secretOf(subscription.tenant);
  // A tenant name may contain any character; a header value may not.
  const webhookId = encodeURI(subscription.id);
  return send(ports, { url, webhookId, eventType: row.type, secret, body }, signal);
}

/** The callback URL is in the run's second row, if the run has one. */
async function callbackUrlOf({ interrupts }: CallbackPorts, { runId }: Row): Promise<string | null> {
  const [second] = await interrupts.log.read({ runId, after: 0, limit: 1 });
  const event = second === undefined ? null : foldEventOf(second);
  return event?.type === 'cairn.callback.requested' ? event.payload.callbackUrl : null;
}

async function stillOpen({ interrupts, now }: CallbackPorts, row: Row): Promise<OpenInterrupt | null> {
  const event = foldEventOf(row);
  if (event.type !== 'interrupt.requested' || event.payload.interruptId === undefined) return null;
  const name = event.payload.interruptId;
  try {
    return await openInterruptOf(interrupts, { runId: row.runId, name, now: now() });
  } catch (error) {
    if (isCairnError(error) && !error.retryable && error.code !== 'internal_error') return null;
    throw error;
  }
}

/** The principal that started the run. An answer with the callback's token counts as that principal's one vote. */
async function starterOf({ interrupts }: CallbackPorts, { runId }: Row): Promise<string | undefined> {
  return (await interrupts.log.head(runId))?.record.principal ?? undefined;
}

interface Question {
  readonly interrupt: OpenInterrupt;
  readonly principal: string | undefined;
}

function callbackBody(
  { tokens, now, baseUrl }: CallbackPorts,
  { runId }: Row,
  { interrupt, principal }: Question,
): string {
  const { nodeId, interruptId } = interrupt;
  const { token, expiresAt } = tokens.mint(
    { runId, nodeId, interruptId, intent: 'resolve', principal },
    { now: now(), interruptEndsAt: interrupt.expiresAt === undefined ? null : Date.parse(interrupt.expiresAt) },
  );
  const url = `${baseUrl()}/v1/interrupts/${token}`;
  return JSON.stringify({ runId, interrupt, token, url, expiresAt: isoTime(expiresAt) });
}
