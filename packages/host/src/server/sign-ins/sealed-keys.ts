/**
 * Keys that users type in reach the host encrypted (JWE, ECDH-ES on P-256), so that no proxy, log or browser extension on
 * the way reads them. The private key of a request is derived, not stored: it survives a restart and leaks from no table.
 */
import { createECDH, createPrivateKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { unredactable } from '../../redaction/markers.ts';
import type { Keys } from '../secrets/host-secret.ts';

/** Longest JWE, in characters, and longest credential. */
const MAX_JWE = 32_768;
const MAX_CREDENTIAL = 16_384;

const CURVE = 'prime256v1';

interface Pair {
  readonly publicJwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };
  readonly privateKey: KeyObject;
}

function pairOf(secret: Buffer, kid: string): Pair {
  const ecdh = createECDH(CURVE);
  // A derived number is a private key with all but negligible probability; the next one is, if it is not.
  for (let i = 0; ; i += 1) {
    const d = Buffer.from(hkdfSync('sha256', secret, '', `cairn/sign-in/${kid}/${i}`, 32));
    try {
      ecdh.setPrivateKey(d);
    } catch {
      continue;
    }
    const point = ecdh.getPublicKey();
    const text = (from: number) => point.subarray(from, from + 32).toString('base64url');
    const publicJwk = { kty: 'EC', crv: 'P-256', x: text(1), y: text(33) } as const;
    const privateKey = createPrivateKey({ key: { ...publicJwk, d: d.toString('base64url') }, format: 'jwk' });
    return { publicJwk, privateKey };
  }
}

/** A new public key, as clients get it. */
export function newEncryptionKey([current]: Keys): JsonObject {
  const kid = randomBytes(16).toString('base64url');
  return { ...pairOf(current, kid).publicJwk, kid, alg: 'ECDH-ES', use: 'enc' };
}

/** Decrypts a credential that was encrypted to this key. Throws `input_invalid`, and never says what it read. */
export async function openCredential(keys: Keys, encryptionKey: Json | undefined, jwe: string): Promise<string> {
  const kid = isJsonObject(encryptionKey) ? encryptionKey.kid : undefined;
  if (typeof kid !== 'string') throw refused('this sign-in takes no credential');
  if (jwe.length > MAX_JWE) throw refused(`it has more than ${MAX_JWE} characters`);
  checkHeader(jwe, kid);
  for (const key of keys) {
    const text = await decrypted(jwe, pairOf(key, kid).privateKey);
    if (text !== null) return checked(text);
  }
  throw refused('it is not encrypted to the encryptionKey of this sign-in');
}

function checkHeader(jwe: string, kid: string): void {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(jwe);
  } catch {
    throw refused('it is not a JWE in compact form');
  }
  if (header.kid !== undefined && header.kid !== kid) throw refused('its kid is not that of the encryptionKey');
  if ('zip' in header) throw refused('it is compressed');
}

const algorithms = {
  keyManagementAlgorithms: ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW'],
  contentEncryptionAlgorithms: ['A128GCM', 'A256GCM', 'A128CBC-HS256', 'A256CBC-HS512'],
};

async function decrypted(jwe: string, privateKey: KeyObject): Promise<string | null> {
  try {
    const { plaintext } = await compactDecrypt(jwe, privateKey, algorithms);
    return new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
  } catch {
    return null;
  }
}

/** A credential has to be findable in text, or the host could not keep it out of the log. */
function checked(text: string): string {
  if (text.length > MAX_CREDENTIAL || /\p{C}/u.test(text)) throw refused('it does not hold a credential');
  const unfit = unredactable([{ name: 'credential', value: text }]);
  if (unfit !== null) throw refused(`the credential ${unfit.why}`);
  return text;
}

const refused = (why: string): TerminalError =>
  new TerminalError('input_invalid', {
    message: `The credential cannot be used: ${why}.`,
    hint: 'Encrypt it as a compact JWE (ECDH-ES, A256GCM) to the encryptionKey of the auth-required event. The sign-in stays open.',
  });
