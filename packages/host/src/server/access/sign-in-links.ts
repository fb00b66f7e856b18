/**
 * One-time links that open a browser session without a key in an address, a history or a terminal. They live in memory:
 * a link is good once, for a short time, at the host process that made it.
 */
import { hash, randomBytes } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import type { Caller } from './auth.ts';

/** How long a link is good. */
export const LINK_LIFE_MS = 600_000;

/** Links of one credential that are good at a time; a newer one takes the place of the oldest. */
const MAX_PER_CREDENTIAL = 8;

/** Links of all credentials. */
const MAX_LINKS = 10_000;

interface Minted {
  readonly caller: Caller;
  readonly expiresAt: number;
}

export class SignInLinks {
  /** By the hash of the code, oldest first. The code itself is not kept. */
  readonly #links = new Map<string, Minted>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  mint(caller: Caller): { readonly code: string; readonly expiresAt: number } {
    // Otherwise a session could prolong itself for ever, and a token for one run could become a session.
    if (caller.endableId !== undefined) {
      throw new TerminalError('forbidden', {
        message: 'A session and a read token cannot make sign-in links.',
        hint: 'Use the key itself, for example with "cairn studio".',
      });
    }
    const expiresAt = Math.min(this.#now() + LINK_LIFE_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    const code = randomBytes(32).toString('base64url');
    this.#links.set(nameOf(code), { caller, expiresAt });
    this.#makeRoom(caller);
    return { code, expiresAt };
  }

  /** Throws unless the code is good. The code stays good. */
  check(code: string): void {
    this.#find(code);
  }

  /** Returns the caller who made the link. The code is not good any more. */
  redeem(code: string): Caller {
    const { caller } = this.#find(code);
    this.#links.delete(nameOf(code));
    return caller;
  }

  #find(code: string): Minted {
    const minted = this.#links.get(nameOf(code));
    if (minted !== undefined && minted.expiresAt > this.#now()) return minted;
    throw new TerminalError('unauthenticated', {
      message: 'This sign-in link was used, has expired, or is not of this start of the host.',
      hint: 'Run "cairn studio" for a new one, or sign in with a key.',
    });
  }

  #makeRoom({ tenant, credential }: Caller): void {
    const now = this.#now();
    const own: string[] = [];
    for (const [name, { caller, expiresAt }] of this.#links) {
      if (expiresAt <= now) this.#links.delete(name);
      else if (caller.tenant === tenant && caller.credential === credential) own.push(name);
    }
    for (const name of own.slice(0, Math.max(0, own.length - MAX_PER_CREDENTIAL))) this.#links.delete(name);
    if (this.#links.size > MAX_LINKS) this.#links.delete(this.#links.keys().next().value ?? '');
  }
}

const nameOf = (code: string): string => hash('sha256', code, 'base64url');
