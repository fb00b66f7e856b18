/** Texts that a client keeps for the host: signed, and bound to the caller that got them. Nothing is stored. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { invariant } from '@cairn/protocol';
import type { Caller } from '../access/auth.ts';

type Signatory = Pick<Caller, 'tenant' | 'principal'>;

export interface Signed {
  sign(caller: Signatory, payload: object): string;
  /** Null for a text that this host did not give to this caller. */
  open(caller: Signatory, text: string): unknown;
}

/** Longest text that is looked at. */
const MAX_TEXT = 4_096;

/** The first key signs; all keys verify, so that keys can be rotated. */
export function createSigned(keys: readonly Buffer[]): Signed {
  const [signingKey] = keys;
  invariant(signingKey !== undefined, 'mcp-texts-have-a-key');
  const macOf = (key: Buffer, { tenant, principal }: Signatory, encoded: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([encoded, tenant, principal ?? null]))
      .digest();
  return {
    sign(caller, payload) {
      const encoded = Buffer.from(JSON.stringify(payload)).toString('base64url');
      return `${encoded}.${macOf(signingKey, caller, encoded).toString('base64url')}`;
    },
    open(caller, text) {
      const [encoded = '', signature = '', ...rest] = text.length > MAX_TEXT ? [] : text.split('.');
      const mac = Buffer.from(signature, 'base64url');
      if (rest.length > 0 || encoded === '' || mac.toString('base64url') !== signature) return null;
      const isSigned = keys.map((key) => {
        const expected = macOf(key, caller, encoded);
        return mac.length === expected.length && timingSafeEqual(mac, expected);
      });
      return isSigned.includes(true) ? JSON.parse(Buffer.from(encoded, 'base64url').toString()) : null;
    },
  };
}
