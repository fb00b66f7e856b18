/** The public keys of a token issuer: fetched when needed, kept, and fetched again when they age or turn. */
import { RetryableError } from '@cairn/protocol';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Report } from '../../engine/ports.ts';

export interface KeySetPorts {
  readonly url: string;
  readonly now: () => number;
  readonly report: Report;
}

/** Keys older than this are fetched again before they are used. */
const FRESH_MS = 600_000;

/** While the issuer cannot be reached, its last keys count for this long. */
const STALE_MS = 86_400_000;

/** Between two fetches, whatever tokens ask for: a made-up key id must not make this host hammer the issuer. */
const COOLDOWN_MS = 30_000;

const FETCH_WITHIN_MS = 5_000;
const MAX_BYTES = 262_144;

interface KeySet {
  readonly find: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

export class IssuerKeys {
  readonly #ports: KeySetPorts;
  #keys: KeySet | null = null;
  #lastAttemptAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | null = null;
  #isDown = false;

  constructor(ports: KeySetPorts) {
    this.#ports = ports;
  }

  /** The key a token's header names. Throws `service_unavailable` when no keys can be had: then nobody can tell. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const known = this.#keys;
    if (known === null || this.#age(known) > FRESH_MS) await this.#refresh();
    const keys = this.#usable();
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have turned its keys since.
      await this.#refresh();
      return await this.#usable().find(header, token);
    }
  };

  #usable(): KeySet {
    const keys = this.#keys;
    if (keys !== null && this.#age(keys) <= STALE_MS) return keys;
    throw new RetryableError('service_unavailable', {
      message: 'Tokens cannot be checked: the keys of their issuer cannot be fetched.',
      hint: 'Try again in a moment; the operator finds the reason in the log of the host.',
      details: { reason: 'jwks_unavailable', retryAfterMs: 5_000 },
    });
  }

  #age = (keys: KeySet): number => Math.abs(this.#ports.now() - keys.fetchedAt);

  /** One fetch for all who wait, and none within the time after the last. */
  #refresh(): Promise<void> {
    const now = this.#ports.now();
    if (this.#fetching === null && Math.abs(now - this.#lastAttemptAt) >= COOLDOWN_MS) {
      this.#lastAttemptAt = now;
      this.#fetching = this.#fetch(now).finally(() => {
        this.#fetching = null;
      });
    }
    return this.#fetching ?? Promise.resolve();
  }

  async #fetch(now: number): Promise<void> {
    const { url, report } = this.#ports;
    try {
      this.#keys = { find: createLocalJWKSet(await fetchKeySet(url)), fetchedAt: now };
      if (this.#isDown) report({ level: 'info', event: 'jwks.recovered', facts: { url } });
      this.#isDown = false;
    } catch (error) {
      // Once an outage: requests that need the keys may be many.
      if (!this.#isDown) {
        report({ level: 'warn', event: 'jwks.fetch_failed', facts: { url }, error });
      }
      this.#isDown = true;
    }
  }
}

/** The address is the operator's, and only that: no redirects, no endless answers. */
async function fetchKeySet(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_WITHIN_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the answer has status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as JSONWebKeySet;
}
