/** Encrypts a text to a public key of the host: a compact JWE with ECDH-ES on P-256 and A256GCM, by WebCrypto alone. */
import { TerminalError } from '@cairn/protocol';
import { freshBytes } from '../timers.ts';

/** The public key of an `auth-required` event. */
export type EncryptionKey = Readonly<Record<string, unknown>>;

const ALGORITHM = 'ECDH-ES';
const ENCRYPTION = 'A256GCM';
const KEY_BITS = 256;
const curve = { name: 'ECDH', namedCurve: 'P-256' } as const;

export async function encryptTo({ kty, crv, x, y, kid }: EncryptionKey, text: string): Promise<string> {
  const subtle = subtleCrypto();
  if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string') throw unknownKey();
  const theirs = await subtle.importKey('jwk', { kty, crv, x, y }, curve, false, []);
  const own = await subtle.generateKey(curve, true, ['deriveBits']);
  const { x: epkX, y: epkY } = await subtle.exportKey('jwk', own.publicKey);
  const header = {
    alg: ALGORITHM,
    enc: ENCRYPTION,
    ...(typeof kid === 'string' && { kid }),
    epk: { kty, crv, x: epkX, y: epkY },
  };
  const shared = await subtle.deriveBits({ name: 'ECDH', public: theirs }, own.privateKey, KEY_BITS);
  const key = await subtle.importKey('raw', await derived(subtle, shared), 'AES-GCM', false, ['encrypt']);
  const protectedHeader = base64url(utf8(JSON.stringify(header)));
  const iv = freshBytes(12);
  const parameters = { name: 'AES-GCM', iv, additionalData: utf8(protectedHeader) };
  const sealed = new Uint8Array(await subtle.encrypt(parameters, key, utf8(text)));
  const tag = sealed.length - 16;
  // Key agreement without wrapping: the second part, an encrypted key, is empty.
  return [protectedHeader, '', base64url(iv), base64url(sealed.slice(0, tag)), base64url(sealed.slice(tag))].join('.');
}

/** One round of the Concat KDF (RFC 7518, 4.6.2), which is enough for 256 bits. */
function derived(subtle: SubtleCrypto, shared: ArrayBuffer): Promise<ArrayBuffer> {
  const name = utf8(ENCRYPTION);
  const parts = [word(1), new Uint8Array(shared), word(name.length), name, word(0), word(0), word(KEY_BITS)];
  const input = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    input.set(part, at);
    at += part.length;
  }
  return subtle.digest('SHA-256', input);
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const word = (value: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);

function base64url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Browsers keep it from pages that are served without TLS, except those of the local machine. */
function subtleCrypto(): SubtleCrypto {
  const subtle: SubtleCrypto | undefined = crypto.subtle;
  if (subtle !== undefined) return subtle;
  throw new TerminalError('validation_error', {
    message: 'This page cannot encrypt: browsers keep WebCrypto from pages that are served without TLS.',
    hint: 'Serve the page over https, or from localhost.',
  });
}

const unknownKey = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'The encryptionKey of this sign-in is not a P-256 key.',
    hint: 'Pass on the auth-required event as it came.',
  });
