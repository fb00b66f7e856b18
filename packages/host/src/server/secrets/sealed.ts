/** Small secrets at rest: encrypted, bound to an owner, and opened with the current key or an earlier one. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import type { Keys } from './host-secret.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `owner` binds the ciphertext: a sealed text copied to another owner does not open. */
export function seal(keys: Keys, owner: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keys[0], iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Throws `internal_error` when no key opens it. */
export function unseal(keys: Keys, owner: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  for (const key of keys) {
    try {
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
    } catch {
      // Try the next key.
    }
  }
  throw new TerminalError('internal_error', {
    message: `The secret of ${owner} was sealed with a key this host does not have.`,
    hint: 'Give the key it was sealed with as masterKey.previous, or register it again.',
  });
}

/** Seals and unseals for one owner. */
export const sealerOf = (keys: Keys, owner: string) => ({
  seal: (text: string): string => seal(keys, owner, text),
  open: (sealed: string): string => unseal(keys, owner, sealed),
});
