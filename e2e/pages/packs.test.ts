/** Sends the requests of `docs/reference/packs.md` to a host, in order, and holds the page to what it says is answered. */
import { expect, test } from 'vitest';
import { packLimits } from '../../packages/host/src/agents/packs/pack-files.ts';
import { newSigningKey, signatureFiles } from '../../packages/host/src/agents/packs/signature.ts';
import { integrityOf, makeTarball } from '../../packages/host/src/agents/packs/tarball.ts';
import { MAX_PACKS } from '../../packages/host/src/agents/registry.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { samplePack } from '../../packages/host/test/kit/sample-pack.ts';
import { exchangesOf, holdTo, referencePage } from './exchanges.ts';

const page = referencePage('packs.md');

test('every exchange of the page is answered as it says, for the pack it shows', async () => {
  const [, shown = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const files = samplePack(JSON.parse(shown) as object);
  const signingKey = newSigningKey();
  const tarball = makeTarball(new Map([...files, ...signatureFiles(files, 'acme-2026', signingKey.privateKeyPem)]));
  const key = 'key-of-the-page-03';
  await using host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      packs: { trust: [{ keyId: 'acme-2026', publicKey: signingKey.publicKey }] },
    },
    report: () => undefined,
  });
  const exchanges = exchangesOf(page);
  expect(exchanges).toHaveLength(7);
  await holdTo(exchanges, host, key, { tarball: tarball.toString('base64'), integrity: integrityOf(tarball) });
});

test('the number of packs on the page is the one that is kept', () => {
  expect(page).toContain(`A tenant has up to ${MAX_PACKS} packs.`);
});

test('the limits on the page are those that are kept', () => {
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  const { tarballBytes, unpackedBytes, entries, entryBytes, manifestBytes } = packLimits;
  expect(page).toContain(
    `Limits: ${mib(tarballBytes)} as an archive, ${mib(unpackedBytes)} unpacked, ${entries} files and folders, ${mib(entryBytes)} each, ${manifestBytes / 1024} KiB for`,
  );
});
