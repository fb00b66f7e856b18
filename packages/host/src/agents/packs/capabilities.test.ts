import type { Discovery } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { hasCapability } from './capabilities.ts';

const document = {
  webhooks: { supported: true, signatureAlgorithms: ['v1'] },
  agents: { supported: false, modelClasses: ['chat'], manifestRuntime: { supported: true } },
  memory: { supported: false, search: { supported: true } },
  runs: { pauseResume: { supported: true } },
  agentRuntime: { supported: false },
  conversationPrimitive: true,
  fixtures: [],
  extensions: {},
  restTransport: { conditionalRunGet: true },
} as object as Discovery;

test.each([
  'webhooks',
  'host.webhooks',
  'webhooks.signatureAlgorithms',
  'runs.pauseResume',
  'conversationPrimitive',
  'restTransport',
  'restTransport.conditionalRunGet',
])('%s is there', (key) => expect(hasCapability(document, key)).toBe(true));

test.each([
  'memory',
  'memory.search',
  'agents.modelClasses',
  'agents.manifestRuntime',
  'fixtures',
  'extensions',
  'nothing',
  'webhooks.nothing',
  'conversationPrimitive.deeper',
  'toString',
  '__proto__',
  'constructor.name',
  '',
  'host.',
])('%j is not there', (key) => expect(hasCapability(document, key)).toBe(false));

test('a value that is asked for must be the value, or among the values', () => {
  expect(hasCapability(document, 'webhooks.signatureAlgorithms', 'v1')).toBe(true);
  expect(hasCapability(document, 'webhooks.signatureAlgorithms', 'v2')).toBe(false);
  expect(hasCapability(document, 'conversationPrimitive', 'true')).toBe(true);
  expect(hasCapability(document, 'webhooks', '[object Object]')).toBe(false);
});

test('a whole agent runtime includes that of manifests', () => {
  expect(hasCapability(document, 'agents.manifestRuntime')).toBe(false);
  const able = { ...document, agentRuntime: { supported: true } } as Discovery;
  expect(hasCapability(able, 'agents.manifestRuntime')).toBe(true);
  expect(hasCapability(able, 'host.agentRuntime')).toBe(true);
});
