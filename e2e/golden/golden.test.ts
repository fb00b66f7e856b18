/** Histories that earlier versions recorded: this version decides them as they did, and reads them as they were. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withBundle } from '../../packages/host/src/cli/bundle-file.ts';
import { importBundle } from '../../packages/host/src/cli/import.ts';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { openSuiteStore, suiteStoreFlags } from '../../packages/host/src/log/postgres/suite-store.kit.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import { hostVersion } from '../../packages/host/src/server/version.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { fileHash, histories } from './histories.ts';
import { stories } from './stories.ts';

const tenant = 'golden';
const all = histories();
const report = () => undefined;

/** The folder of each version, with a host that knows nothing of what its histories used. Versions share run ids. */
const opened = new Map<string, { readonly folder: string; readonly host: Host }>();
const versionOf = (name: string): string => name.split('/')[0] ?? '';
const versions = [...new Set(all.map(({ name }) => versionOf(name)))];
const openedOf = (version: string) => present(opened.get(version));

beforeAll(async () => {
  for (const version of versions) {
    const folder = await mkdtemp(join(tmpdir(), 'cairn-histories-'));
    const store = await openSuiteStore(folder);
    for (const { name, file } of all)
      if (versionOf(name) === version) await importBundle(store, file, { tenant, importedAt: 0 });
    const config = { data: folder, keys: [{ key: 'a-key-of-golden-runs', tenant }] };
    opened.set(version, { folder, host: await createHostOver(store, { http: false, report, config }) });
  }
});

afterAll(async () => {
  for (const { folder, host } of opened.values()) {
    await host.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test.each(all)('$name is decided today as it was recorded', async ({ file }) => {
  const { code, out } = await typed(['replay', file]);
  expect(code, out).toBe(0);
});

test.each(all)(
  '$name is the file that was recorded, and its runs read as they did',
  async ({ name, file, sha256, snapshots }) => {
    expect(fileHash(file)).toBe(sha256);
    const found: string[] = [];
    withBundle(file, ({ runs }) => {
      for (const { run, rows } of runs) {
        found.push(run.runId);
        // The bundle is checked while its rows are read: their order, their hashes and the chain.
        for (const _ of rows);
      }
    });
    expect(found).toEqual(Object.keys(snapshots));
    const { host } = openedOf(versionOf(name));
    for (const [runId, snapshot] of Object.entries(snapshots))
      expect(await host.engine.snapshot(tenant, runId as RunId)).toMatchObject(snapshot);
  },
);

test.each(versions)(
  'verify finds every chain, face and index of the imported histories of %s right',
  async (version) => {
    const { code, out } = await typed(['verify', ...suiteStoreFlags(openedOf(version).folder)]);
    expect(code, out).toBe(0);
  },
);

test('this version has a history of each story', () => {
  const recorded = all.filter(({ name }) => name.startsWith(`v${hostVersion()}/`)).map(({ name }) => name);
  expect(recorded).toEqual(stories.map(({ name }) => `v${hostVersion()}/${name}.jsonl`).sort());
});

test('every built-in node type is in a history', () => {
  const used = new Set<string>();
  for (const { file } of all)
    withBundle(file, ({ runs }) => {
      for (const { rows } of runs)
        for (const { type, payload } of rows) if (type === 'node.started') used.add(JSON.parse(payload ?? '{}').typeId);
    });
  const { host } = openedOf(`v${hostVersion()}`);
  const missing = host.engine.nodeTypes().filter(({ typeId }) => !used.has(typeId));
  expect(missing.map(({ typeId }) => typeId)).toEqual([]);
});
