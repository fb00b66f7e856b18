import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyBits } from '../server/access/key-strength.ts';
import { typed } from './recording-terminal.kit.ts';

test('cairn key prints a key on stdout that no host calls weak, and its hash on stderr', async () => {
  const { out, err, code } = await typed(['key']);
  expect(code).toBe(0);
  const key = out.trim();
  expect(key).toMatch(/^\w[\w-]{42}$/);
  expect(keyBits(key)).toBeGreaterThan(200);
  expect(err).toContain(hash('sha256', key, 'hex'));
  expect((await typed(['key'])).out).not.toBe(out);
});

test('cairn key --json has the key and its hash', async () => {
  const { key, sha256 } = JSON.parse((await typed(['key', '--json'])).out);
  expect(sha256).toBe(hash('sha256', key, 'hex'));
});
