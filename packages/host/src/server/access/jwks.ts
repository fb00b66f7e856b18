/** The public keys of a token issuer: fetched on demand, cached, and refetched when they expire or rotate. */
import { RetryableError } from '@cairn/protocol';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Report } from '../../engine/ports.ts';

export interface KeySetPorts {
  readonly url: string;
  readonly now: () => number;
  readonly report: Report;
}

/** Keys older than this are refetched before use. */
const FRESH_MS = 600_000;

/** While the issuer is unreachable, its last keys stay valid for this long. */
const STALE_MS = 86_400_000;

/** Minimum time between two fetches, so that tokens with made-up key ids cannot make this host flood the issuer. */
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

  /** Finds the key that a token's header names. Throws `service_unavailable` when no usable keys are available. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const known = this.#keys;
    if (known === null || this.#age(known) > FRESH_MS) await this.#refresh();
    const keys = this.#usable();
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have rotated its keys.
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

  /** Concurrent callers share one fetch. No fetch starts within the cooldown. */
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
      // Report once per outage, because many requests may need the keys.
      if (!this.#isDown) {
        report({ level: 'warn', event: 'jwks.fetch_failed', facts: { url }, error });
      }
      this.#isDown = true;
    }
  }
}

/** Fetches only the operator's URL: no redirects, bounded time and size. */
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
