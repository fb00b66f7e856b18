import { ECDH, generateKeyPairSync } from 'node:crypto';
import { isCairnError } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didWebUrl, parseDid } from './did.ts';
import { didKeyDocument } from './did-key.ts';

const urlOf = (did: string): string => didWebUrl(parseDid(did)).href;

test.for([
  ['did:web:w3c-ccg.github.io', 'https://w3c-ccg.github.io/.well-known/did.json'],
  ['did:web:w3c-ccg.github.io:user:alice', 'https://w3c-ccg.github.io/user/alice/did.json'],
  ['did:web:example.com%3A3000:user:alice', 'https://example.com:3000/user/alice/did.json'],
  ['did:web:example.com%3a443', 'https://example.com/.well-known/did.json'],
  ['did:web:example.com:a%20b', 'https://example.com/a%20b/did.json'],
] as const)('the document of %s is at %s', ([did, url]) => {
  expect(urlOf(did)).toBe(url);
});

test.for([
  '',
  'did:',
  'did:web:',
  'did:web:Example.com',
  'did:web:127.0.0.1',
  'did:web:127.1',
  'did:web:0x7f.1',
  'did:web:2130706433',
  'did:web:example.com:3000:',
  'did:web:example.com::a',
  'did:web:example.com%3A0',
  'did:web:example.com%3A65536',
  'did:web:example.com%2Fa',
  'did:web:example.com%40evil.example',
  'did:web:user@evil.example',
  'did:web:example.com:..:secret',
  'did:web:example.com:%2e%2e:secret',
  'did:web:example.com:a%2Fb',
  'did:web:example.com:a%5Cb',
  'did:web:example.com:a%00',
  'did:web:example.com:%FF',
  'did:web:example.com/path',
  'did:web:example.com#key',
  'did:web:example.com?x=1',
  'did:web:-.example%3Aport',
  'did:ion:EiD',
  `did:web:${'a'.repeat(600)}`,
])('%s is refused', (did) => {
  expect(() => urlOf(did)).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

test.for([
  ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', 'Ed25519'],
  ['did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169', 'P-256'],
  ['did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme', 'secp256k1'],
] as const)('the document of %s has a key of %s', ([did, crv]) => {
  expect(didKeyDocument(parseDid(did))).toMatchObject({
    id: did,
    verificationMethod: [{ controller: did, publicKeyJwk: { crv } }],
  });
});

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const base58 = (bytes: Buffer): string => {
  let text = '';
  for (let value = BigInt(`0x${bytes.toString('hex')}`); value > 0n; value /= 58n)
    text = DIGITS[Number(value % 58n)] + text;
  return `z${text}`;
};

test('a key of each type is read as it was written', () => {
  const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const edDid = `did:key:${base58(Buffer.concat([Buffer.from([0xed, 0x01]), Buffer.from(ed.x ?? '', 'base64url')]))}`;
  expect(didKeyDocument(parseDid(edDid))).toMatchObject({ verificationMethod: [{ publicKeyJwk: { x: ed.x } }] });
  for (const [curve, prefix] of [
    ['prime256v1', [0x80, 0x24]],
    ['secp256k1', [0xe7, 0x01]],
  ] as const) {
    const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ format: 'jwk' });
    const whole = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    const point = ECDH.convertKey(whole, curve, undefined, 'hex', 'compressed');
    const did = `did:key:${base58(Buffer.from(`${Buffer.from(prefix).toString('hex')}${point.toString()}`, 'hex'))}`;
    expect(didKeyDocument(parseDid(did))).toMatchObject({ verificationMethod: [{ publicKeyJwk: { x, y } }] });
  }
});

test.for([
  ['no multibase', 'did:key:abc'],
  ['a digit that is none', 'did:key:z0OIl'],
  ['nothing', 'did:key:z'],
  ['another type (X25519)', `did:key:${base58(Buffer.concat([Buffer.from([0xec, 0x01]), Buffer.alloc(32, 1)]))}`],
  ['a key that is too short', `did:key:${base58(Buffer.concat([Buffer.from([0xed, 0x01]), Buffer.alloc(31, 1)]))}`],
  ['no point of the curve', `did:key:${base58(Buffer.concat([Buffer.from([0x80, 0x24, 2]), Buffer.alloc(32, 0xff)]))}`],
  ['leading zeros', `did:key:z1${base58(Buffer.concat([Buffer.from([0xed, 0x01]), Buffer.alloc(32, 1)])).slice(1)}`],
  ['a million digits', `did:key:z${'2'.repeat(500)}`],
] as const)('a did:key with %s is refused', ([, did]) => {
  expect(() => didKeyDocument(parseDid(did))).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

test('whatever text comes as a DID is refused with a code, or leads to one https address of the host in it', () => {
  const piece = fc.constantFrom(
    'did:',
    'web:',
    'key:',
    'z',
    '%3A',
    '%2F',
    '..',
    ':',
    '/',
    '@',
    '#',
    'a.example',
    '80',
    '[::1]',
  );
  const text = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((units) => String.fromCharCode(...units)),
    fc.array(piece, { maxLength: 8 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(fc.boolean(), text, (isWeb, tail) => {
      const did = `${isWeb ? 'did:web:' : ''}${tail}`;
      try {
        const parsed = parseDid(did);
        if (parsed.method === 'key') didKeyDocument(parsed);
        else {
          const url = didWebUrl(parsed);
          expect([url.protocol, url.username, url.search, url.hash]).toEqual(['https:', '', '', '']);
          expect(parsed.id.startsWith(url.hostname)).toBe(true);
          expect(url.pathname.endsWith('/did.json')).toBe(true);
        }
      } catch (error) {
        if (!isCairnError(error, 'validation_error')) throw error;
      }
    }),
    { numRuns: 300 },
  );
});
