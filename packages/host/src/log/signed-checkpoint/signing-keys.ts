/** Ed25519 keys from secrets of 32 bytes, and their signatures of digests. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export interface SigningKey {
  /** The 32 bytes of the public key, base64url. */
  readonly publicKey: string;
  /** Signs the digest of a checkpoint; base64url. */
  sign(sha256: string): string;
}

/** What comes before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key that belongs to a secret: always the same one. */
export function signingKey(secret: Buffer): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'jwk' }).x ?? '';
  return { publicKey, sign: (sha256) => sign(null, signedBytes(sha256), key).toString('base64url') };
}

export function isSignedBy(publicKey: string, sha256: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  // The last character has spare bits: only one spelling counts.
  if (bytes.toString('base64url') !== signature) return false;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  } catch {
    return false;
  }
  return verify(null, signedBytes(sha256), key, bytes);
}

/** Names what is signed, so that no signature of another kind fits. */
const signedBytes = (sha256: string): Buffer => Buffer.from(`cairn-checkpoint-v1\n${sha256}`);
