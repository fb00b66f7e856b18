import { expect, test } from 'vitest';
import { samplePack } from '../../../test/kit/sample-pack.ts';
import { FILE_LIST, type PackFiles, SIGNATURE } from './pack-files.ts';
import { newSigningKey, packHash, publicKeyOf, signatureFiles, signerOf, type TrustPolicy } from './signature.ts';

const key = newSigningKey();
const other = newSigningKey();
const trusting = (publicKey: string, allowUnsigned = false): TrustPolicy => ({
  trust: [{ keyId: 'acme-2026', publicKey }],
  allowUnsigned,
});
const policy = trusting(key.publicKey);

const signed = (files: PackFiles = samplePack(), keyId = 'acme-2026', pem = key.privateKeyPem): PackFiles =>
  new Map([...files, ...signatureFiles(files, keyId, pem)]);

const refused = (files: PackFiles, code: string, reason?: string, by: TrustPolicy = policy) =>
  expect(() => signerOf(files, by)).toThrow(
    expect.objectContaining({ code, ...(reason === undefined ? {} : { details: { reason } }) }),
  );

test('a pack signed by a trusted key is by that key', () => {
  expect(signerOf(signed(), policy)).toBe('acme-2026');
  expect(publicKeyOf(key.privateKeyPem)).toBe(key.publicKey);
});

test('a file that was changed, added or taken away breaks the signature, wherever it lies', () => {
  const with_ = (path: string, content: string | null): PackFiles => {
    const files = new Map(signed());
    if (content === null) files.delete(path);
    else files.set(path, Buffer.from(content));
    return files;
  };
  for (const files of [
    with_('pack.json', '{}'),
    with_('prompts/triage.md', 'Obey.'),
    with_('prompts/extra.md', 'x'),
    with_('schemas/task.json', null),
  ]) {
    refused(files, 'pack_integrity_failure');
    refused(files, 'pack_integrity_failure', undefined, trusting(key.publicKey, true));
  }
});

test('a list that was written anew for changed files does not fit the signature', () => {
  const changed = samplePack({}, { 'prompts/triage.md': 'Obey.' });
  const list = signatureFiles(changed, 'acme-2026', other.privateKeyPem).get(FILE_LIST) as Buffer;
  const files = new Map([...changed, [FILE_LIST, list], [SIGNATURE, signed().get(SIGNATURE) as Buffer]] as const);
  refused(files, 'pack_signature_invalid', 'wrong');
  refused(files, 'pack_signature_invalid', 'wrong', trusting(key.publicKey, true));
});

test('only keys of the configuration count, under their own id', () => {
  refused(signed(samplePack(), 'acme-2026', other.privateKeyPem), 'pack_signature_invalid', 'wrong');
  refused(signed(samplePack(), 'someone'), 'pack_signature_invalid', 'unknown_key');
  refused(signed(), 'pack_signature_invalid', 'unknown_key', { trust: [], allowUnsigned: false });
});

test('without a signature that could count a pack is taken only where unsigned ones are', () => {
  const onlyListed = new Map(signed());
  onlyListed.delete(SIGNATURE);
  for (const files of [samplePack(), onlyListed]) {
    refused(files, 'pack_signature_invalid', 'unsigned');
    expect(signerOf(files, trusting(key.publicKey, true))).toBeNull();
  }
  expect(signerOf(signed(samplePack(), 'someone'), trusting(key.publicKey, true))).toBeNull();
});

test('a public key that lies in the pack means nothing', () => {
  const files = samplePack({}, { 'keys/acme.pem': other.privateKeyPem });
  refused(signed(files, 'acme-2026', other.privateKeyPem), 'pack_signature_invalid', 'wrong');
});

test.each(['', 'x', '{}', '{"keyId":"acme-2026","signature":"short"}', '[]'])(
  'the signature file %j is refused',
  (text) => {
    const files = new Map(signed()).set(SIGNATURE, Buffer.from(text));
    refused(files, 'pack_signature_invalid', 'wrong');
  },
);

test('a pack is the same by content whether it is signed or not, and another with any other byte', () => {
  expect(packHash(signed())).toBe(packHash(samplePack()));
  expect(packHash(samplePack({}, { 'prompts/triage.md': 'Obey.' }))).not.toBe(packHash(samplePack()));
  const moved = samplePack({}, { 'prompts/triage.md': null, 'prompts/other.md': 'x' });
  expect(packHash(moved)).not.toBe(packHash(samplePack()));
});

test('a private key of another kind is refused without being quoted', () => {
  expect(() => signatureFiles(samplePack(), 'k', 'not a key')).toThrow(
    expect.objectContaining({ code: 'validation_error', message: expect.not.stringContaining('not a key') }),
  );
});
