/** The card of a peer, fetched when it is needed, kept as long as the peer says, and asked for again by its ETag. */
import { isCairnError, type Json } from '@cairn/protocol';
import { cardOf, type PeerCard } from './agent-card.ts';
import { malformed, ofStatus } from './peer-error.ts';
import { failureOf, type PeerFetch } from './peer-fetch.ts';
import type { PeerSettings } from './peer-settings.ts';

/** The characters of a card. */
const MAX_CARD = 262_144;

/** How long a card may take. */
const CARD_TIMEOUT_MS = 10_000;

/** How long a card is kept whose peer does not say, and how long at most. */
const USUAL_MS = 300_000;
const LONGEST_MS = 3_600_000;

const WELL_KNOWN = '.well-known/agent-card.json';

/** The address of the card of a peer, as `url` of its configuration names it. */
export const peerCardUrl = (url: string): string =>
  new URL(url).pathname.endsWith('.json') ? url : `${url.replace(/\/+$/, '')}/${WELL_KNOWN}`;

interface Kept {
  readonly card: PeerCard;
  readonly etag: string | null;
  readonly freshUntil: number;
}

export class KeptCard {
  readonly #peer: PeerSettings;
  readonly #now: () => number;
  #kept: Kept | null = null;

  constructor(peer: PeerSettings, now: () => number) {
    this.#peer = peer;
    this.#now = now;
  }

  /** Where the card is. */
  get url(): string {
    return peerCardUrl(this.#peer.url);
  }

  /** The next use asks the peer again: what the card says may no longer work. */
  doubt(): void {
    if (this.#kept !== null) this.#kept = { ...this.#kept, freshUntil: Number.NEGATIVE_INFINITY };
  }

  async read(fetch: PeerFetch, signal: AbortSignal): Promise<PeerCard> {
    const kept = this.#kept;
    if (kept !== null && this.#now() < kept.freshUntil) return kept.card;
    const { name } = this.#peer;
    const within = AbortSignal.any([signal, AbortSignal.timeout(CARD_TIMEOUT_MS)]);
    const headers = {
      accept: 'application/json',
      'a2a-version': '1.0',
      ...(kept?.etag == null ? {} : { 'if-none-match': kept.etag }),
    };
    try {
      const response = await fetch(this.url, { headers, signal: within });
      const isSame = response.status === 304 && kept !== null;
      if (!isSame && response.status !== 200) throw ofStatus(name, response.status);
      const card = isSame ? kept.card : cardOf(name, await jsonOf(name, response));
      const etag = response.headers.get('etag') ?? (isSame ? kept.etag : null);
      this.#kept = { card, etag, freshUntil: this.#now() + maxAgeOf(response) };
      return card;
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(name, error);
    }
  }
}

async function jsonOf(peer: string, response: Response): Promise<Json> {
  const text = await response.text();
  if (text.length > MAX_CARD) throw malformed(peer, `its card has more than ${MAX_CARD} characters`);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isCairnError(error)) throw error;
    throw malformed(peer, 'its card is not JSON');
  }
}

function maxAgeOf({ headers }: Response): number {
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(store|cache)\b/.test(control)) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/.exec(control)?.[1];
  return seconds === undefined ? USUAL_MS : Math.min(Number(seconds) * 1_000, LONGEST_MS);
}
