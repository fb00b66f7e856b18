/** Pack signatures: Ed25519 over the list of all files. Any added, removed or changed file breaks the signature. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { type PackFileList, packFileList, packSignature, quoted, TerminalError } from '@cairn/protocol';
import type { z } from 'zod';
import { FILE_LIST, type PackFiles, SIGNATURE } from './pack-files.ts';

/** A key whose signatures the host accepts. */
export interface TrustedKey {
  readonly keyId: string;
  /** The 32 bytes of an Ed25519 public key, base64url. */
  readonly publicKey: string;
}

export interface TrustPolicy {
  readonly trust: readonly TrustedKey[];
  /** Accept packs that no trusted key signed. */
  readonly allowUnsigned: boolean;
}

/** SHA-256 as hex of every file, except the file list and its signature. */
function fileDigests(files: PackFiles): ReadonlyMap<string, string> {
  const digests = new Map<string, string>();
  for (const [path, content] of files) if (path !== FILE_LIST && path !== SIGNATURE) digests.set(path, sha256(content));
  return digests;
}

/** The content hash of a pack; it does not depend on the signature. */
export const packHash = (files: PackFiles): string => sha256(JSON.stringify([...fileDigests(files)]));

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** Creates the two signature files of a pack. */
export function signatureFiles(files: PackFiles, keyId: string, privateKeyPem: string): PackFiles {
  const list: PackFileList = { files: Object.fromEntries(fileDigests(files)) };
  const text = Buffer.from(`${JSON.stringify(list, null, 2)}\n`);
  const signature = sign(null, text, privateKeyOf(privateKeyPem)).toString('base64url');
  return new Map([
    [FILE_LIST, text],
    [SIGNATURE, Buffer.from(`${JSON.stringify({ keyId, signature }, null, 2)}\n`)],
  ]);
}

export interface NewKey {
  readonly privateKeyPem: string;
  /** In the format of `packs.trust`. */
  readonly publicKey: string;
}

export function newSigningKey(): NewKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { privateKeyPem, publicKey: publicKeyOf(privateKeyPem) };
}

/** The public key of a private key, in the format of `packs.trust`. */
export function publicKeyOf(privateKeyPem: string): string {
  const { x } = createPublicKey(privateKeyOf(privateKeyPem)).export({ format: 'jwk' });
  return x ?? '';
}

function privateKeyOf(pem: string): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Reported below; the original message may quote the key.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new TerminalError('validation_error', {
    message: 'The key is not an Ed25519 private key in PEM.',
    hint: 'Make one with "openssl genpkey -algorithm ed25519", or let "cairn pack sign" make it.',
  });
}

/**
 * Returns the id of the trusted key that signed the pack. Returns null if unsigned packs are accepted and no trusted
 * key signed it.
 */
export function signerOf(files: PackFiles, { trust, allowUnsigned }: TrustPolicy): string | null {
  const list = files.get(FILE_LIST);
  const signature = files.get(SIGNATURE);
  // A file list is checked even without a signature.
  if (list !== undefined) checkList(files, list);
  if (list === undefined || signature === undefined) {
    if (allowUnsigned) return null;
    throw invalid('unsigned', `It is not signed: it has no ${list === undefined ? FILE_LIST : SIGNATURE}.`);
  }
  const { keyId, signature: bytes } = parsed(packSignature, signature, SIGNATURE);
  const key = trust.find((known) => known.keyId === keyId);
  if (key === undefined) {
    if (allowUnsigned) return null;
    throw invalid('unknown_key', `It is signed by ${quoted(keyId, 80)}, a key that packs.trust does not have.`);
  }
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.publicKey };
  const isRight = verify(null, list, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(bytes, 'base64url'));
  if (!isRight) throw invalid('wrong', `The signature by ${quoted(keyId, 80)} does not fit ${FILE_LIST}.`);
  return keyId;
}

function checkList(files: PackFiles, list: Buffer): void {
  const listed = new Map(Object.entries(parsed(packFileList, list, FILE_LIST).files));
  const actual = fileDigests(files);
  const wrong =
    [...listed].find(([path, digest]) => actual.get(path) !== digest)?.[0] ??
    [...actual.keys()].find((path) => !listed.has(path));
  if (wrong === undefined) return;
  const reason = !listed.has(wrong) ? 'is not listed' : actual.has(wrong) ? 'was changed' : 'is missing';
  throw new TerminalError('pack_integrity_failure', {
    message: `${quoted(wrong, 120)} ${reason}, by ${FILE_LIST}.`,
    hint: 'Sign the pack again after its last change, or fetch it again.',
    details: { path: wrong },
  });
}

function parsed<Shape>(shape: z.ZodType<Shape>, content: Buffer, file: string): Shape {
  try {
    return shape.parse(JSON.parse(content.toString('utf8')));
  } catch {
    throw invalid('wrong', `${file} is not what such a file holds.`);
  }
}

const invalid = (reason: 'unsigned' | 'unknown_key' | 'wrong', message: string): TerminalError =>
  new TerminalError('pack_signature_invalid', {
    message: `The signature of the pack does not count. ${message}`,
    hint: 'Sign it with "cairn pack sign" and list the public key under packs.trust, or name its folder in packs.unsigned instead of packs.folders. "cairn dev" accepts unsigned packs.',
    details: { reason },
  });
