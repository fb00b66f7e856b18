/** Reads an agent card of another host, and the state of its signature. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { Egress } from '../egress/egress.ts';
import { type CardSignature, checkCardSignature } from './card-signature.ts';
import { fetchDocument } from './fetch-document.ts';
import type { PublicJwk } from './public-jwk.ts';

export interface CardEvidence {
  readonly url: string;
  readonly name: string;
  readonly card: JsonObject;
  readonly signature: CardSignature;
}

export interface CardSource {
  readonly url: string;
  readonly keys: readonly PublicJwk[];
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** The SDK's path below the host, for an address that names only the host. */
const CARD_PATH = '/.well-known/agent-card.json';

export async function resolveCard(
  { url: given, keys, headers }: CardSource,
  egress: Pick<Egress, 'send'>,
): Promise<CardEvidence> {
  const url = cardUrl(given);
  const card = await fetchDocument(egress, {
    url,
    what: 'the agent card',
    types: ['application/json', 'application/a2a+json'],
    // Only this version has signatures. A server of 0.3 ignores the header.
    headers: { ...headers?.(), 'a2a-version': '1.0' },
  });
  const { name } = card;
  if (typeof name !== 'string' || name.trim() === '')
    throw new TerminalError('identity_unresolved', {
      message: `The agent card of ${new URL(url).origin} has no name.`,
      hint: 'Check that the address is that of an A2A agent card.',
    });
  return { url, name, card, signature: await checkCardSignature({ url, card, keys }, egress) };
}

function cardUrl(given: string): string {
  const url = new URL(given);
  return url.pathname === '/' && url.search === '' ? new URL(CARD_PATH, url).href : given;
}
