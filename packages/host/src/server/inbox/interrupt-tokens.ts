/** Signed tokens by which somebody without a key may look at one interrupt, or answer it. Nothing of them is stored. */
import { createHmac, timingSafeEqual } from 'node:crypto';
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

/** What a token is for. */
export interface TokenGrant {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly interruptId: string;
  readonly intent: TokenIntent;
  /** Whose answer it counts as: of who asked for the token. */
  readonly principal?: string | undefined;
}

export interface MintedToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface InterruptTokens {
  /** Lives as long as asked for, and never longer than the interrupt, which ends at `interruptEndsAt`. */
  mint(
    grant: TokenGrant,
    life: { readonly now: number; readonly ms?: number; readonly interruptEndsAt: number | null },
  ): MintedToken;
  /** Throws `unauthenticated` for what was not signed here, `interrupt_expired` for what is past its time. */
  verify(token: string, now: number): TokenGrant;
}

const payloadShape = z.object({
  runId: z.string(),
  nodeId: z.string(),
  interruptId: z.string(),
  expiresAt: z.iso.datetime(),
  intent: z.enum(tokenIntents),
  principal: z.string().optional(),
});

/** The first key signs; tokens of the others are still taken, so that keys can be changed while tokens are out. */
export function createInterruptTokens(keys: readonly Buffer[]): InterruptTokens {
  const [signingKey] = keys;
  invariant(signingKey !== undefined, 'interrupt-tokens-have-a-key');
  const macOf = (key: Buffer, payload: Buffer): Buffer => createHmac('sha256', key).update(payload).digest();

  /** Every key is tried, whichever fits. */
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
      const grant = { runId, nodeId, interruptId, expiresAt: isoTime(expiresAt), intent, principal };
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
      return { ...grant, runId };
    },
  };
}

/** One text for one token: other spellings of the same bytes are not taken. */
function strictBytes(text: string | undefined): Buffer | null {
  if (text === undefined || text === '') return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const notOurs = (): TerminalError =>
  new TerminalError('unauthenticated', {
    message: 'The token is not one of this host.',
    hint: 'Use the token as it was given out, whole and unchanged.',
  });

const pastItsTime = (expiresAt: string): TerminalError =>
  new TerminalError('interrupt_expired', {
    message: `The token was good until ${expiresAt}.`,
    hint: 'Ask whoever gave it out for a new one; the run may still wait.',
    details: { expiresAt },
  });
