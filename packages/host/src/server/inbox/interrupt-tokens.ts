/** Signed tokens that let a person without a key inspect or answer one interrupt. Tokens are not stored. */
import { createHmac, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  invariant,
  isoTime,
  parseRunId,
  type RunId,
  TerminalError,
  type TokenIntent,
  tokenIntents,
} from '@cairn/protocol';
import { z } from 'zod';

export const TOKEN_LIFE_MS = 1_800_000;

/** What a token allows. */
export interface TokenGrant {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly interruptId: string;
  readonly intent: TokenIntent;
  /** The caller that minted the token; the answer counts as theirs. */
  readonly principal?: string | undefined;
}

/** A verified token. */
export interface VerifiedToken extends TokenGrant {
  /** Different for each token. */
  readonly tokenId: string;
}

export interface MintedToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface InterruptTokens {
  /** Expires after `ms`, and no later than the interrupt, at `interruptEndsAt`. */
  mint(
    grant: TokenGrant,
    life: { readonly now: number; readonly ms?: number; readonly interruptEndsAt: number | null },
  ): MintedToken;
  /** Throws `unauthenticated` for a token that this host did not sign, `interrupt_expired` for one that has expired. */
  verify(token: string, now: number): VerifiedToken;
}

const payloadShape = z.object({
  runId: z.string(),
  nodeId: z.string(),
  interruptId: z.string(),
  expiresAt: z.iso.datetime(),
  intent: z.enum(tokenIntents),
  principal: z.string().optional(),
  /** Tokens of earlier versions have none. */
  tokenId: z.string().optional(),
});

/** The first key signs; all keys verify, so that keys can be rotated while tokens are in use. */
export function createInterruptTokens(keys: readonly Buffer[]): InterruptTokens {
  const [signingKey] = keys;
  invariant(signingKey !== undefined, 'interrupt-tokens-have-a-key');
  const macOf = (key: Buffer, payload: Buffer): Buffer => createHmac('sha256', key).update(payload).digest();

  /** Tries every key, also after one fits, so that the time says nothing about the keys. */
  const isSigned = (payload: Buffer, mac: Buffer): boolean => {
    let signed = false;
    for (const key of keys) {
      const expected = macOf(key, payload);
      if (mac.length === expected.length && timingSafeEqual(mac, expected)) signed = true;
    }
    return signed;
  };

  return {
    mint({ runId, nodeId, interruptId, intent, principal }, { now, ms = TOKEN_LIFE_MS, interruptEndsAt }) {
      const expiresAt = Math.min(now + ms, interruptEndsAt ?? Number.POSITIVE_INFINITY);
      const tokenId = randomUUID();
      const grant = { runId, nodeId, interruptId, expiresAt: isoTime(expiresAt), intent, principal, tokenId };
      const payload = Buffer.from(JSON.stringify(grant));
      const mac = macOf(signingKey, payload);
      return { token: `${payload.toString('base64url')}.${mac.toString('base64url')}`, expiresAt };
    },
    verify(token, now) {
      const [encoded, signature, ...rest] = token.split('.');
      const payload = strictBytes(encoded);
      const mac = strictBytes(signature);
      if (rest.length > 0 || payload === null || mac === null || !isSigned(payload, mac)) throw notOurs();
      const { runId: text, expiresAt, ...grant } = payloadShape.parse(JSON.parse(payload.toString()));
      if (now >= Date.parse(expiresAt)) throw pastItsTime(expiresAt);
      const runId = parseRunId(text);
      invariant(runId !== null, 'signed-token-names-a-run');
      return { ...grant, runId, tokenId: grant.tokenId ?? hash('sha256', token, 'hex').slice(0, 32) };
    },
  };
}

/** Accepts only the canonical base64url text of the bytes. */
function strictBytes(text: string | undefined): Buffer | null {
  if (text === undefined || text === '') return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const notOurs = (): TerminalError =>
  new TerminalError('unauthenticated', {
    message: 'The token is not one of this host.',
    hint: 'Send the token whole and unchanged.',
  });

const pastItsTime = (expiresAt: string): TerminalError =>
  new TerminalError('interrupt_expired', {
    message: `The token was good until ${expiresAt}.`,
    hint: 'Ask for a new token; the run may still wait.',
    details: { expiresAt },
  });
