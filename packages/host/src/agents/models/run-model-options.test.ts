import type { Configurable } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { ModelCredentials } from './credentials.ts';
import { ModelRegistry } from './model-registry.ts';
import { checkRunModelOptions } from './run-model-options.ts';

const key = { reveal: () => 'sk-secret-of-acme' };
const credentials = new ModelCredentials(
  new Map([
    ['acme-key', { provider: 'openai', tenants: ['acme'], key }],
    ['any-key', { provider: 'openai', tenants: null, key }],
  ]),
);
const registry = new ModelRegistry({ providers: new Map(), classes: {} }, new VirtualClock());

const check = (configurable: Configurable, { tenant = 'acme', allowsMocks = false } = {}) =>
  checkRunModelOptions(configurable, tenant, { registry, credentials, allowsMocks });

test('what can be had passes', () => {
  check({});
  check({ 'ai.provider': 'scripted', temperature: 1 });
  check({ 'ai.credentialRef': 'acme-key' });
  check({ 'ai.credentialRef': 'any-key' }, { tenant: 'other' });
  check({ mockProvider: { id: 'stream-text' } }, { allowsMocks: true });
});

test('another tenant is told of a credential exactly what it is told of one that does not exist', () => {
  const told = (ref: string) => {
    try {
      check({ 'ai.credentialRef': ref }, { tenant: 'other' });
      return null;
    } catch (error) {
      return { ...(error as object), message: (error as Error).message.replaceAll(ref, '…') };
    }
  };
  expect(told('acme-key')).toEqual(told('no-such-key'));
  expect(told('acme-key')).toMatchObject({ code: 'credential_forbidden' });
  expect(() => check({ 'ai.credentialRef': 'sk-a-key-by-mistake' })).not.toThrow(/sk-a-key/);
});

test.each<[Configurable, boolean, string]>([
  [{ mockProvider: { id: 'stream-text' } }, false, 'mock_provider_forbidden'],
  [{ mockProvider: { id: 'gpt' } }, true, 'unsupported_mock_provider'],
  [{ mockProvider: { id: 'error', config: { retryable: 1 } } }, true, 'unsupported_mock_provider'],
  [{ 'ai.provider': 'nobody' }, false, 'validation_error'],
  [{ 'ai.provider': 'scripted', 'ai.credentialRef': 'acme-key' }, false, 'credential_forbidden'],
])('%j (mocks allowed: %s) is refused with %s', (configurable, allowsMocks, code) => {
  expect(() => check(configurable, { allowsMocks })).toThrow(expect.objectContaining({ code }));
});
