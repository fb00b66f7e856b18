import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../../test/kit/virtual-clock.ts';
import type { ModelPart } from '../model-port.ts';
import { mockModel, mockProviderIds } from './mock-providers.ts';

const mock = (id: string, config?: JsonObject) => mockModel({ id, config }, new VirtualClock());

async function parts(id: string, config?: JsonObject, turnIndex = 0): Promise<ModelPart[]> {
  const all: ModelPart[] = [];
  const { signal } = new AbortController();
  const call = { system: '', messages: [], task: '', tools: [], turnIndex, attempt: 1, signal };
  for await (const some of mock(id, config).stream(call)) all.push(...some);
  return all;
}

test('stream-text says its tokens one by one and leaves the last for the closing chunk', async () => {
  expect(await parts('stream-text')).toEqual([
    { type: 'text-delta', text: 'mock' },
    { type: 'text-delta', text: ' response' },
    { type: 'finish', finish: 'stop', usage: { inputTokens: 0, outputTokens: 2 } },
  ]);
  expect(mock('stream-text')).toMatchObject({ provider: 'mock', model: 'mock-stream-text-v1', keepsTail: true });
  const told = {
    tokens: ['{{task}}'],
    finishReason: 'length',
    usage: { promptTokens: 3, completionTokens: 4 },
    model: 'm',
  };
  expect((await parts('stream-text', told))[0]).toEqual({ type: 'text-delta', text: '{{task}}' });
  expect((await parts('stream-text', told)).at(-1)).toMatchObject({
    finish: 'length',
    usage: { inputTokens: 3, outputTokens: 4 },
  });
});

test('stream-text says the same in every turn, however many are asked for', async () => {
  expect(await parts('stream-text', {}, 7)).toEqual(await parts('stream-text', {}, 0));
});

test('tool-calls makes its calls, and then is done', async () => {
  const config = { toolCalls: [{ name: 'a', arguments: { x: 1 } }, { toolId: 'openwop:b' }] };
  const calls = (await parts('tool-calls', config)).flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([
    { name: 'a', input: { x: 1 } },
    { name: 'openwop:b', input: {} },
  ]);
  expect((await parts('tool-calls', config, 1))[0]).toEqual({ type: 'text-delta', text: 'done' });
});

test('error fails as it is told', async () => {
  await expect(parts('error', { code: 'rate_limited', message: 'slow down', retryable: true })).rejects.toMatchObject({
    class: 'rate_limited',
    retryable: true,
    message: 'slow down (rate_limited)',
  });
  await expect(parts('error', { code: 'own_code' })).rejects.toMatchObject({ class: 'unknown', retryable: false });
});

test('usage-only says nothing and states a usage', async () => {
  const all = await parts('usage-only', { usage: { inputTokens: 5, outputTokens: 6 } });
  expect(all).toEqual([{ type: 'finish', finish: 'stop', usage: { inputTokens: 5, outputTokens: 6 } }]);
});

test.each([
  ['gpt-9', undefined, 'There is no mock provider "gpt-9"'],
  ['constructor', undefined, 'There is no mock provider'],
  ['stream-text', { tokens: [] }, 'config.tokens'],
  ['stream-text', { delayMsPerToken: 6000 }, 'config.delayMsPerToken'],
  ['stream-text', { tokns: ['a'] }, 'tokns'],
  ['tool-calls', {}, 'config.toolCalls'],
  ['tool-calls', { toolCalls: [{}] }, 'needs a name or a toolId'],
  ['error', { retryable: 'yes' }, 'config.retryable'],
] as const)('%s with %j is refused', (id, config, expected) => {
  expect(() => mock(id, config as JsonObject | undefined)).toThrow(expected);
  expect(() => mock(id, config as JsonObject | undefined)).toThrow(
    expect.objectContaining({ code: 'unsupported_mock_provider' }),
  );
});

test('names what there is', () => {
  expect(mockProviderIds).toEqual(['stream-text', 'tool-calls', 'error', 'usage-only']);
});
