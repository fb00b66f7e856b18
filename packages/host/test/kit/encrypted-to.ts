/** Encrypts a credential to the key of a sign-in, as a client does. */
import { CompactEncrypt, type CompactJWEHeaderParameters, importJWK, type JWK } from 'jose';

export async function encryptedTo(
  encryptionKey: unknown,
  text: string,
  header: Partial<CompactJWEHeaderParameters> = {},
): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ...header })
    .encrypt(await importJWK(encryptionKey as JWK, 'ECDH-ES'));
}
