/** A host refuses a data folder whose key is gone or another one, instead of going on with a new key. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { context, creation, runA, started } from '../../log/ports/samples.kit.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { createHost } from '../create-host.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cairn-key-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const keyOf = (data: string) => join(data, 'host.key');
const newKey = () => `${randomBytes(32).toString('base64url')}\n`;

async function start(data: string, config: object = {}): Promise<void> {
  const host = await createHost({ config: { data, ...config }, http: false, report: () => undefined });
  await host.close();
}

/** A folder in which a host ran. */
async function used(): Promise<string> {
  const data = folder();
  await start(data);
  return data;
}

const lost = { code: 'host_key_lost', message: expect.stringContaining('host.key'), hint: expect.any(String) };

test('a folder keeps its key over any number of starts', async () => {
  const data = await used();
  await start(data);
  await start(data);
});

test('a folder whose key is gone is refused, and no key is made', async () => {
  const data = await used();
  rmSync(keyOf(data));
  await expect(start(data)).rejects.toMatchObject(lost);
  await expect(start(data)).rejects.toMatchObject(lost);
  expect(existsSync(keyOf(data))).toBe(false);
});

test('a folder with another key is refused', async () => {
  const data = await used();
  writeFileSync(keyOf(data), newKey());
  await expect(start(data)).rejects.toMatchObject(lost);
});

test('a folder of an earlier version with runs and without a key is refused', async () => {
  const data = folder();
  const store = await openSqliteStore({ folder: data });
  await store.log.append(creation(runA));
  await store.close();
  await expect(start(data)).rejects.toMatchObject(lost);
});

test('a master key is the way out when the key is lost for good', async () => {
  const data = await used();
  rmSync(keyOf(data));
  const file = join(folder(), 'master.key');
  writeFileSync(file, newKey(), { mode: 0o600 });
  await start(data, { masterKey: { file } });
});

test('a folder that only an import used gets its first key', async () => {
  const elsewhere = inMemoryStore();
  await elsewhere.log.append(creation(runA));
  const { seq, hash } = present(await elsewhere.log.head(runA));
  const data = folder();
  const store = await openSqliteStore({ folder: data });
  const identity = { runId: runA, tenant: 't', contextId: context, originRunId: runA };
  await store.log.importRun({ ...identity, importedAt: 9, seq, hash }, [started()]);
  await store.close();
  await start(data);
  expect(existsSync(keyOf(data))).toBe(true);
});
