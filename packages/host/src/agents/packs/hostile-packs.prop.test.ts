/** Packs in hostile hands: whatever is done to one, it is refused by a code of its own or is what was signed. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { isCairnError } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { samplePack } from '../../../test/kit/sample-pack.ts';
import { FILE_LIST, SIGNATURE } from './pack-files.ts';
import { newSigningKey, signatureFiles, signerOf } from './signature.ts';
import { makeTarball, openTarball } from './tarball.ts';

const key = newSigningKey();
const files = samplePack();
const signed = new Map([...files, ...signatureFiles(files, 'acme', key.privateKeyPem)]);
const policy = { trust: [{ keyId: 'acme', publicKey: key.publicKey }], allowUnsigned: false };

test('a signed pack with any byte of any file changed, cut or added is not signed any more', () => {
  const paths = [...signed.keys()].filter((path) => path !== SIGNATURE);
  const change = fc.record({
    path: fc.constantFrom(...paths),
    at: fc.nat(),
    how: fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constant('cut' as const), fc.constant('grow' as const)),
  });
  fc.assert(
    fc.property(change, ({ path, at, how }) => {
      const content = Buffer.from(signed.get(path) as Buffer);
      const place = at % content.length;
      if (typeof how === 'number') content[place] = (content[place] ?? 0) ^ how;
      const changed =
        how === 'cut'
          ? content.subarray(0, place)
          : how === 'grow'
            ? Buffer.concat([content, Buffer.from(' ')])
            : content;
      expect(() => signerOf(new Map(signed).set(path, changed), policy)).toThrow();
    }),
  );
});

test('a signed pack with a file more, under any name, is not signed any more', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.uint8Array(), (path, content) => {
      fc.pre(!signed.has(path));
      expect(() => signerOf(new Map(signed).set(path, Buffer.from(content)), policy)).toThrow(
        expect.objectContaining({ code: 'pack_integrity_failure' }),
      );
    }),
  );
  expect(signed.has(FILE_LIST)).toBe(true);
});

test('a tarball with any bytes changed gives files or one of its refusals, and never anything else', async () => {
  const tar = gunzipSync(makeTarball(signed));
  const edit = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), fc.nat(), async (edits, end) => {
      const bytes = Buffer.from(tar.subarray(0, tar.length - (end % 3 === 0 ? end % tar.length : 0)));
      for (const { at, byte } of edits) bytes[at % Math.max(1, bytes.length)] = byte;
      const opened = await openTarball(gzipSync(bytes)).catch((error: unknown) => error);
      if (!(opened instanceof Map))
        expect([isCairnError(opened), String(opened)]).toEqual([true, expect.stringMatching(/tarball|archive|pack/)]);
    }),
  );
});
