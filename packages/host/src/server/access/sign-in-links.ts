/**
 * One-time links that open a browser session without a key in an address, a history or a terminal. A link is good once,
 * for a short time, at every node of the store in which it is kept.
 */
import { hash, randomBytes } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { ExpiringRecords } from '../../log/ports/expiring.ts';
import { audienceFor, type Caller, scopes } from './auth.ts';

/** How long a link is good. */
export const LINK_LIFE_MS = 600_000;

/** Links of one credential that are good at a time; a newer one takes the place of the oldest. */
const MAX_PER_CREDENTIAL = 8;

const KIND = 'sign-in-link';

const callerShape = z.object({
  tenant: z.string(),
  principal: z.string().optional(),
  peer: z.string().optional(),
  answersForUsers: z.boolean().optional(),
  scopes: z.array(z.enum(scopes)),
  toolScopes: z.array(z.string()),
  credential: z.string(),
  expiresAt: z.number().optional(),
});

export class SignInLinks {
  readonly #store: ExpiringRecords;
  readonly #now: () => number;

  constructor(store: ExpiringRecords, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async mint(caller: Caller): Promise<{ readonly code: string; readonly expiresAt: number }> {
    // Otherwise a session could prolong itself for ever, and a token for one run could become a session.
    if (caller.endableId !== undefined) {
      throw new TerminalError('forbidden', {
        message: 'A session and a read token cannot make sign-in links.',
        hint: 'Use the key itself, for example with "cairn studio".',
      });
    }
    const now = this.#now();
    const expiresAt = Math.min(now + LINK_LIFE_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    const code = randomBytes(32).toString('base64url');
    const { tenant, principal, peer, answersForUsers, toolScopes, credential } = caller;
    const kept: z.infer<typeof callerShape> = {
      ...{ tenant, principal, peer, answersForUsers, credential, expiresAt: caller.expiresAt },
      scopes: [...caller.scopes],
      toolScopes: [...toolScopes],
    };
    const owner = JSON.stringify([tenant, credential]);
    const record = { ...keyOf(code), owner, body: JSON.stringify(kept), expiresAt };
    await this.#store.put(record, { now, maxOfOwner: MAX_PER_CREDENTIAL });
    return { code, expiresAt };
  }

  /** Throws unless the code is good. The code stays good. */
  async check(code: string): Promise<void> {
    if ((await this.#store.get(keyOf(code), this.#now())) === null) throw notGood();
  }

  /** Returns the caller who made the link. The code is not good any more. */
  async redeem(code: string): Promise<Caller> {
    const taken = await this.#store.take(keyOf(code), this.#now());
    if (taken === null) throw notGood();
    const caller = callerShape.parse(JSON.parse(taken.body));
    const held = new Set(caller.scopes);
    const { principal, expiresAt } = caller;
    return { ...caller, principal, expiresAt, scopes: held, audience: audienceFor(held) };
  }
}

/** The code itself is not kept. */
const keyOf = (code: string) => ({ kind: KIND, name: hash('sha256', code, 'base64url') });

const notGood = (): TerminalError =>
  new TerminalError('unauthenticated', {
    message: 'This sign-in link was used, has expired, or is not of this host.',
    hint: 'Run "cairn studio" for a new one, or sign in with a key.',
  });
