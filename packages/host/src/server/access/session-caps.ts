/** Caps the sessions of a principal and of a tenant: beyond a cap, the oldest session ends. */
import { LruMap } from '../../lru-map.ts';

/** Sessions of one principal, and of one tenant, that count at a time. */
const MAX_PER_PRINCIPAL = 64;
const MAX_PER_TENANT = 1_000;

/** Principals and tenants that are remembered. Beyond it, those without a session for longest are forgotten and counted anew. */
const MAX_NAMES = 10_000;

export interface CappedSession {
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly credential: string;
  /** Identifies the session among those of its owner. */
  readonly openedAt: number;
}

export class SessionCaps {
  /** When the sessions of each name that count were opened, oldest first. A restart learns them as they are used. */
  readonly #opened = new LruMap<string, number[]>(MAX_NAMES);
  readonly #now: () => number;
  readonly #lifeMs: number;

  constructor({ now, lifeMs }: { readonly now: () => number; readonly lifeMs: number }) {
    this.#now = now;
    this.#lifeMs = lifeMs;
  }

  /** Whether a session counts. A newer one takes the place of the oldest. */
  admit({ tenant, principal, credential, openedAt }: CappedSession): boolean {
    const owner = JSON.stringify(principal === undefined ? [tenant, null, credential] : [tenant, principal]);
    return (
      this.#fits(owner, openedAt, MAX_PER_PRINCIPAL) && this.#fits(JSON.stringify([tenant]), openedAt, MAX_PER_TENANT)
    );
  }

  #fits(name: string, openedAt: number, max: number): boolean {
    const since = this.#now() - this.#lifeMs;
    const live = (this.#opened.peek(name) ?? []).filter((one) => one > since);
    if (!live.includes(openedAt)) {
      if (live.length >= max && openedAt < (live[0] ?? 0)) return false;
      live.push(openedAt);
      live.sort((a, b) => a - b);
      if (live.length > max) live.shift();
    }
    this.#opened.set(name, live);
    return true;
  }
}
