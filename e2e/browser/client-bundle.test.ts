import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundleClient } from './client-bundle.ts';

test('a bundled client stays small and has no schema parser in it', async () => {
  const code = await bundleClient();
  expect(code).not.toContain('ZodError');
  // The page docs/reference/client.md names these bounds.
  expect(code.length).toBeLessThan(26 * 1024);
  expect(gzipSync(code).length).toBeLessThan(10 * 1024);
});

test('the client with conversations stays small too, and has no schema parser in it either', async () => {
  const code = await bundleClient('context/index.ts');
  expect(code).not.toContain('ZodError');
  expect(code.length).toBeLessThan(52 * 1024);
  expect(gzipSync(code).length).toBeLessThan(18 * 1024);
});
