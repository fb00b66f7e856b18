import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { generateTypes } from './generate.ts';

const root = join(import.meta.dirname, '../..');

test('types generated from the API description compile, and agree with those of the client', async () => {
  await using host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key: 'a-key-for-generated-types', tenant: 'acme' }] },
    report: () => undefined,
  });
  await generateTypes(String(host.url));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const compiled = promisify(execFile)(process.execPath, [tsc, '-p', import.meta.dirname]);
  expect((await compiled.catch((failed: { stdout: string }) => failed)).stdout).toBe('');
}, 120_000);
