import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { callFragment, chunk, event, type FakeReply, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import type { ModelPart } from '../models/model-port.ts';
import { createProviders } from './create-providers.ts';
import type { ProviderKind } from './provider-config.ts';

const named = (chunk: JsonObject): string => `event: ${String(chunk.type)}\ndata: ${JSON.stringify(chunk)}\n\n`;

const anthropic: readonly JsonObject[] = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 't1', name: 'openwop_time', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"zone":"UTC"}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];

const google: readonly JsonObject[] = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'hm', thought: true }] } }] },
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'openwop_time', args: { zone: 'UTC' } }, thoughtSignature: 'sig' }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  },
];

const openai: readonly JsonObject[] = [
  chunk({ content: 'Hi' }),
  chunk(callFragment(0, { id: 't1', name: 'openwop_time', arguments: '{"zone":"UTC"}' })),
  chunk({}, 'tool_calls'),
  usageChunk({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }),
];

const cases: readonly [ProviderKind, FakeReply, string, string][] = [
  [
    'openai',
    { text: [...openai.map(event), 'data: [DONE]\n\n'], end: 'finish' },
    '/v1/chat/completions',
    'authorization',
  ],
  ['anthropic', { text: anthropic.map(named), end: 'finish' }, '/v1/messages', 'x-api-key'],
  [
    'google',
    { text: google.map(event), end: 'finish' },
    '/v1/models/m:streamGenerateContent?alt=sse',
    'x-goog-api-key',
  ],
];

const tools = [
  { toolId: 'openwop:time', name: 'openwop_time', description: 'The time.', inputSchema: { type: 'object' } },
];

test.each(cases)('%s: text, tools, usage and the key go over its own interface', async (kind, reply, path, header) => {
  await using server = await fakeOpenAi(() => reply);
  const config = { kind, baseUrl: server.url, apiKey: { reveal: () => 'sk-planted-1' }, headers: {}, models: {} };
  const model = createProviders({ vendor: config }, { fetch }).get('vendor')?.model('m');
  const all: ModelPart[] = [];
  const { signal } = new AbortController();
  const messages = [{ role: 'user' as const, text: 'hello' }];
  const call = { system: 'Be brief.', messages, task: 'hello', tools, turnIndex: 0, attempt: 1, signal };
  for await (const some of model?.stream(call) ?? []) all.push(...some);
  expect(all.filter(({ type }) => type === 'text-delta')).toEqual([{ type: 'text-delta', text: 'Hi' }]);
  expect(all.filter(({ type }) => type === 'reasoning-delta')).toEqual(
    kind === 'openai' ? [] : [{ type: 'reasoning-delta', text: 'hm' }],
  );
  const calls = all.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  expect(calls).toMatchObject([{ name: 'openwop_time', input: { zone: 'UTC' } }]);
  expect(all.at(-1)).toMatchObject({
    type: 'finish',
    finish: 'tool_calls',
    usage: { inputTokens: 11, outputTokens: 7 },
  });
  expect(server.requests[0]?.path).toBe(path);
  expect(server.requests[0]?.headers[header]).toContain('sk-planted-1');
});

test('what a provider wants back with a call goes back with it', async () => {
  await using server = await fakeOpenAi(() => ({ text: google.map(event), end: 'finish' }));
  const config = {
    kind: 'google' as const,
    baseUrl: server.url,
    apiKey: { reveal: () => 'sk-planted-1' },
    headers: {},
    models: {},
  };
  const model = createProviders({ vendor: config }, { fetch }).get('vendor')?.model('m');
  const { signal } = new AbortController();
  const first = {
    system: '',
    messages: [{ role: 'user' as const, text: 'go' }],
    task: 'go',
    tools,
    turnIndex: 0,
    attempt: 1,
    signal,
  };
  const all: ModelPart[] = [];
  for await (const some of model?.stream(first) ?? []) all.push(...some);
  const calls = all.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  const answered = [
    ...first.messages,
    { role: 'assistant' as const, text: '', toolCalls: calls },
    { role: 'tool' as const, callId: calls[0]?.id ?? '', name: 'openwop_time', output: 7, isError: false },
  ];
  for await (const _ of model?.stream({ ...first, messages: answered, turnIndex: 1 }) ?? []);
  expect(JSON.stringify(server.requests[1]?.body)).toContain('"thoughtSignature":"sig"');
});
