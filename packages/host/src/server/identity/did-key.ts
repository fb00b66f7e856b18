/** The document of a `did:key`, which is computed from the key in its name. Ed25519, P-256 and secp256k1. */
import { ECDH } from 'node:crypto';
import type { JsonObject } from '@cairn/protocol';
import { type Did, notADid } from './did.ts';

interface KeyType {
  readonly name: string;
  /** The multicodec number as a varint. */
  readonly prefix: readonly [number, number];
  readonly length: number;
  readonly jwk: (key: Buffer) => JsonObject;
}

const keyTypes: readonly KeyType[] = [
  {
    name: 'Ed25519',
    prefix: [0xed, 0x01],
    length: 32,
    jwk: (key) => ({ kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') }),
  },
  { name: 'P-256', prefix: [0x80, 0x24], length: 33, jwk: (key) => pointJwk(key, 'P-256', 'prime256v1') },
  { name: 'secp256k1', prefix: [0xe7, 0x01], length: 33, jwk: (key) => pointJwk(key, 'secp256k1', 'secp256k1') },
];

/** The longest name of a key that is read: 35 bytes have 48 digits and the `z`. */
const MAX_DIGITS = 49;

/** Throws `validation_error` for a name that is no key of a known type. */
export function didKeyDocument({ did, id }: Did): JsonObject {
  const bytes = id.length > MAX_DIGITS ? null : base58Bytes(id);
  if (bytes === null) throw notADid(did, `the key must be z and at most ${MAX_DIGITS - 1} digits of base58btc`);
  const type = keyTypes.find(({ prefix: [first, second] }) => bytes[0] === first && bytes[1] === second);
  if (type === undefined) throw notADid(did, 'its key is none of Ed25519, P-256 and secp256k1');
  const key = bytes.subarray(2);
  if (key.length !== type.length)
    throw notADid(did, `a key of ${type.name} has ${type.length} bytes, and this one has ${key.length}`);
  const method = `${did}#${id}`;
  const publicKeyJwk = jwkOf(did, type, key);
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: [{ id: method, type: 'JsonWebKey2020', controller: did, publicKeyJwk }],
    authentication: [method],
    assertionMethod: [method],
  };
}

function jwkOf(did: string, { name, jwk }: KeyType, key: Buffer): JsonObject {
  try {
    return jwk(key);
  } catch {
    throw notADid(did, `its key is not a point of ${name}`);
  }
}

function pointJwk(key: Buffer, crv: string, curve: string): JsonObject {
  const point = ECDH.convertKey(key, curve, undefined, undefined, 'uncompressed');
  const bytes = Buffer.isBuffer(point) ? point : Buffer.from(point, 'latin1');
  const coordinate = (from: number) => bytes.subarray(from, from + 32).toString('base64url');
  return { kty: 'EC', crv, x: coordinate(1), y: coordinate(33) };
}

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Multibase `z`. Null for other text. The caller bounds its length, because the work grows with its square. */
function base58Bytes(text: string): Buffer | null {
  if (!text.startsWith('z')) return null;
  let value = 0n;
  for (const digit of text.slice(1)) {
    const amount = DIGITS.indexOf(digit);
    if (amount === -1) return null;
    value = value * 58n + BigInt(amount);
  }
  const hex = value.toString(16);
  // A leading 1 stands for a byte 0. No known key type begins with it, so such a name is refused by its type.
  const zeros = /^z(1*)/.exec(text)?.[1]?.length ?? 0;
  const rest = value === 0n ? Buffer.alloc(0) : Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.alloc(zeros), rest]);
}
