/** Public keys that sign agent cards, as JWKs. */
import { isJsonObject, type Json } from '@cairn/protocol';
import type { JWK } from 'jose';
import { z } from 'zod';

const part = z.string().min(1).max(2_048);

/** Without private parts: the host only verifies. */
export const publicJwk = z.strictObject({
  kty: z.enum(['OKP', 'EC', 'RSA']).describe('The type of the key.'),
  kid: z.string().min(1).max(256).optional().describe('The id of the key in signatures.'),
  alg: part.optional().describe('The algorithm.'),
  use: part.optional().describe('The use of the key, `sig`.'),
  crv: part.optional().describe('The curve.'),
  x: part.optional().describe('The first coordinate.'),
  y: part.optional().describe('The second coordinate.'),
  n: part.optional().describe('The modulus.'),
  e: part.optional().describe('The exponent.'),
});

export type PublicJwk = z.infer<typeof publicJwk>;

/** A key set of another host may have keys of other types, which are left out. */
const listedJwk = z.object(publicJwk.shape);

const MAX_KEYS = 64;

export const keysOfSet = (keys: Json | undefined): readonly PublicJwk[] =>
  (Array.isArray(keys) ? keys.slice(0, MAX_KEYS) : []).flatMap((key) => {
    const parsed = isJsonObject(key) ? listedJwk.safeParse(key) : null;
    return parsed?.success === true ? [parsed.data] : [];
  });

/** The key with the id of a signature. Without an id, only a single key can be meant. */
export function fittingKey(keys: readonly PublicJwk[], kid: Json | undefined): JWK | null {
  const found = kid === undefined ? (keys.length === 1 ? keys[0] : undefined) : keys.find((key) => key.kid === kid);
  if (found === undefined) return null;
  const { kty, crv, x, y, n, e } = found;
  const given = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
