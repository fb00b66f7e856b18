import { expect, test } from 'vitest';
import { maskKeyShapes } from './key-shapes.ts';

const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----';

test.each([
  'sk-0123456789abcdef0123',
  'sk-ant-api03-0123456789abcdef',
  'AIzaSyA0123456789abcdefghijklmnopqrstuv',
  'ghp_0123456789abcdefghijklmnopqrstuvwxyz',
  'xoxb-0123456789-abcdef',
  'AKIAIOSFODNN7EXAMPLE',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  pem,
])('masks %s in text and in JSON, which stays valid', (key) => {
  expect(maskKeyShapes(`the key ${key}`)).toBe('the key [REDACTED]');
  const text = maskKeyShapes(JSON.stringify({ a: `x\n${key}`, [key]: 1, end: `"${key}"` }));
  expect(JSON.parse(text)).toEqual({ a: 'x\n[REDACTED]', '[REDACTED]': 1, end: '"[REDACTED]"' });
});

test('leaves other text as it is', () => {
  const text = 'task-0123456789abcdefgh, desk-0123456789abcdefgh, AKIA, sk-short, run_01a1e2fb-80a0';
  expect(maskKeyShapes(text)).toBe(text);
});
