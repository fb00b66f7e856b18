import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyBits, MIN_KEY_BITS } from './key-strength.ts';

test.each([
  ['', 0],
  ['1234567890123456', 6],
  ['a-key-of-16-characters', 115],
  ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 4],
  ['abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz', 4],
  ['changeme-changeme-changeme-changeme-', 47],
  ['0123456789abcdef0123456789abcdef', 8],
  ['correcthorsebattery', 89],
  ['d9b2d63d-a233-4123-847a-7090d3b8f0a1', 122],
  ['018f4a1e-0000-7000-8000-000000000000', 74],
])('%s has at most %i bits', (text, bits) => {
  expect(keyBits(text)).toBe(bits);
});

test.each(['hex', 'base64', 'base64url'] as const)('random bytes in %s count for what they are', (encoding) => {
  for (let i = 0; i < 200; i += 1) expect(keyBits(randomBytes(24).toString(encoding))).toBeGreaterThan(MIN_KEY_BITS);
});
