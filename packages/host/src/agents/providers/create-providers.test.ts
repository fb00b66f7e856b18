import type { JsonObject } from '@cairn/protocol';
import { afterEach, expect, test } from 'vitest';
import {
  callFragment,
  chunk,
  event,
  type FakeOpenAi,
  type FakeReply,
  type FakeRequest,
  fakeOpenAi,
  usageChunk,
} from '../../../test/kit/fake-openai.ts';
import { ModelError } from '../models/model-error.ts';
import type { ModelCall, ModelPart } from '../models/model-port.ts';
import { createProviders } from './create-providers.ts';
import type { ProviderConfig } from './provider-config.ts';

const KEY = 'sk-planted-key-0123456789';
const secret = (text: string) => ({ reveal: () => text });

let server: FakeOpenAi | null = null;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = null;
});

const call = (over: Partial<ModelCall> = {}): ModelCall => ({
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'hello' }],
  task: 'hello',
  tools: [],
  turnIndex: 0,
  attempt: 1,
  signal: new AbortController().signal,
  ...over,
});

interface Asked {
  readonly reply: (request: FakeRequest, index: number) => FakeReply;
  readonly call?: Partial<ModelCall>;
  readonly config?: Partial<ProviderConfig>;
}

async function modelOf({ reply, config }: Asked) {
  server = await fakeOpenAi(reply);
  const local: ProviderConfig = {
    kind: 'openai-compatible',
    baseUrl: server.url,
    apiKey: secret(KEY),
    headers: {},
    models: {},
    ...config,
  };
  return createProviders({ local }, { fetch }).get('local')?.model('fake-1');
}

async function parts(asked: Asked): Promise<readonly ModelPart[]> {
  const model = await modelOf(asked);
  const all: ModelPart[] = [];
  for await (const some of model?.stream(call(asked.call)) ?? []) all.push(...some);
  return all;
}

async function failure(asked: Asked): Promise<ModelError> {
  const error: unknown = await parts(asked).then(
    (all) => all,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(JSON.stringify([(error as ModelError).message, String((error as ModelError).stack)])).not.toContain(KEY);
  return error as ModelError;
}

const chunks = (...list: readonly JsonObject[]) => ({ reply: () => ({ chunks: list }) });

test('gives text as it comes, the usage, and the end', async () => {
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 3,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  const all = await parts(
    chunks(chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop'), usageChunk(usage)),
  );
  expect(all).toEqual([
    { type: 'text-delta', text: 'Hel' },
    { type: 'text-delta', text: 'lo' },
    {
      type: 'finish',
      finish: 'stop',
      usage: expect.objectContaining({ inputTokens: 12, outputTokens: 3, cacheReadTokens: 4 }) as unknown,
    },
  ]);
  expect(server?.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(server?.requests[0]?.body).toMatchObject({
    model: 'fake-1',
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ],
  });
});

test('gives reasoning apart from text', async () => {
  const all = await parts(
    chunks(
      chunk({ reasoning_content: 'hm, ' }),
      chunk({ reasoning_content: 'yes' }),
      chunk({ content: 'Yes' }),
      chunk({}, 'stop'),
    ),
  );
  expect(all.slice(0, 3)).toEqual([
    { type: 'reasoning-delta', text: 'hm, ' },
    { type: 'reasoning-delta', text: 'yes' },
    { type: 'text-delta', text: 'Yes' },
  ]);
});

test('puts the fragments of parallel tool calls together', async () => {
  const all = await parts(
    chunks(
      chunk(callFragment(0, { id: 'a', name: 'openwop_time', arguments: '{"zo' })),
      chunk(callFragment(1, { id: 'b', name: 'openwop_recall', arguments: '' })),
      chunk(callFragment(0, { arguments: 'ne":"UTC"}' })),
      chunk(callFragment(1, { arguments: '{"query":"x"}' })),
      chunk({}, 'tool_calls'),
    ),
  );
  const calls = all.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  expect(calls).toEqual(
    expect.arrayContaining([
      { id: 'a', name: 'openwop_time', input: { zone: 'UTC' } },
      { id: 'b', name: 'openwop_recall', input: { query: 'x' } },
    ]),
  );
  expect(calls).toHaveLength(2);
  expect(all.at(-1)).toMatchObject({ type: 'finish', finish: 'tool_calls' });
});

test('arguments that are not JSON, or no object, are kept with the reason', async () => {
  const all = await parts(
    chunks(
      chunk(callFragment(0, { id: 'a', name: 'x', arguments: '{"cut":' })),
      chunk(callFragment(1, { id: 'b', name: 'y', arguments: '[1]' })),
      chunk({}, 'tool_calls'),
    ),
  );
  const calls = all.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  expect(calls).toEqual(
    expect.arrayContaining([
      { id: 'a', name: 'x', input: '{"cut":', invalid: expect.stringContaining('not JSON') as unknown },
      { id: 'b', name: 'y', input: [1], invalid: 'the arguments are no JSON object' },
    ]),
  );
});

test('arguments that are nested without end are kept as text, and a reason never quotes them', async () => {
  const nested = `{"a":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
  const all = await parts(
    chunks(
      chunk(callFragment(0, { id: 'a', name: 'x', arguments: nested })),
      chunk(callFragment(1, { id: 'b', name: 'y', arguments: `{"key": ${KEY}` })),
      chunk({}, 'tool_calls'),
    ),
  );
  const [deep, cut] = all.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []));
  expect(deep).toEqual({
    id: 'a',
    name: 'x',
    input: nested,
    invalid: expect.stringContaining('levels deep') as unknown,
  });
  expect(cut?.invalid).toBe('the arguments are not JSON');
});

test('what is no object goes back to the model inside of one', async () => {
  const toolCalls = [{ id: 'a', name: 'x', input: '{"cut":', invalid: 'the arguments are not JSON' }];
  await parts({
    ...chunks(chunk({ content: 'x' }), chunk({}, 'stop')),
    call: { messages: [{ role: 'assistant', text: '', toolCalls }] },
  });
  expect(server?.requests[0]?.body.messages).toMatchObject([
    { role: 'system' },
    { tool_calls: [{ function: { arguments: '{"unreadable":"{\\"cut\\":"}' } }] },
  ]);
});

test('sends tools, calls and their results, a schema and the settings as the interface wants them', async () => {
  await parts({
    ...chunks(chunk({ content: '{}' }), chunk({}, 'stop')),
    call: {
      messages: [
        { role: 'user', text: 'go' },
        { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'openwop_time', input: {} }] },
        { role: 'tool', callId: 'a', name: 'openwop_time', output: { now: 1 }, isError: false },
        { role: 'assistant', text: '', toolCalls: [] },
      ],
      tools: [
        { toolId: 'openwop:time', name: 'openwop_time', description: 'The time.', inputSchema: { type: 'object' } },
      ],
      responseSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
      temperature: 0.5,
      maxTokens: 99,
    },
  });
  const body = server?.requests[0]?.body;
  expect(body).toMatchObject({ temperature: 0.5, max_tokens: 99, response_format: { type: 'json_schema' } });
  expect(body?.messages).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'go' },
    { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'openwop_time', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: '{"now":1}' },
  ]);
  expect(body?.tools).toMatchObject([{ function: { name: 'openwop_time', parameters: { type: 'object' } } }]);
});

test('usage that a server does not count is estimated', async () => {
  const all = await parts(chunks(chunk({ content: 'four chars' }), chunk({}, 'stop')));
  const last = all.at(-1);
  expect(last?.type === 'finish' && last.usage.inputTokens).toBeGreaterThan(0);
  expect(last?.type === 'finish' && last.usage.outputTokens).toBe(3);
});

test.each([-5_000, 1.5, 1e300])('usage of %d tokens is none, and is estimated', async (tokens) => {
  const usage = { prompt_tokens: tokens, completion_tokens: tokens, prompt_tokens_details: { cached_tokens: tokens } };
  const all = await parts(chunks(chunk({ content: 'four chars' }), chunk({}, 'stop'), usageChunk(usage)));
  const last = all.at(-1);
  expect(last?.type === 'finish' && last.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
  expect(last).not.toHaveProperty('usage.cacheReadTokens');
});

test.each([
  [429, { 'retry-after': '2' }, {}, { class: 'rate_limited', retryable: true, retryAfterMs: 2000 }],
  [429, {}, { error: { message: 'no', code: 'insufficient_quota' } }, { class: 'rate_limited', retryable: false }],
  [500, {}, {}, { class: 'overloaded', retryable: true }],
  [503, { 'retry-after-ms': '250' }, {}, { class: 'overloaded', retryable: true, retryAfterMs: 250 }],
  [401, {}, { error: { message: 'who?' } }, { class: 'auth', retryable: false }],
  [
    400,
    {},
    { error: { message: 'maximum context length is 8192 tokens' } },
    { class: 'context_length', retryable: false },
  ],
  [400, {}, { error: { message: 'blocked', code: 'content_filter' } }, { class: 'content_filter', retryable: false }],
  [404, {}, { error: { message: 'no such model' } }, { class: 'invalid_request', retryable: false }],
])('%i %j %j is an error of its class', async (status, headers, body, expected) => {
  const error = await failure({ reply: () => ({ status, headers, body }) });
  expect(error).toMatchObject(expected);
  expect(server?.requests).toHaveLength(1);
});

test('a connection that is cut in the middle is a network error', async () => {
  const error = await failure({ reply: () => ({ text: [event(chunk({ content: 'Hel' }))], end: 'cut' }) });
  expect(error).toMatchObject({ class: 'network', retryable: true });
});

test('nobody there is a network error that names why', async () => {
  const model = await modelOf({ reply: () => ({ status: 200 }) });
  await server?.[Symbol.asyncDispose]();
  const run = async () => {
    for await (const _ of model?.stream(call()) ?? []);
  };
  await expect(run()).rejects.toMatchObject({
    class: 'network',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED') as unknown,
  });
});

test.each([
  ['garbage in the place of JSON', ['data: {"choices": [{"del\n\n', 'data: [DONE]\n\n']],
  ['an answer of another shape', ['data: {"choices": "none"}\n\n', 'data: [DONE]\n\n']],
  ['an end without a reason', [event(chunk({ content: 'Hel' }))]],
  ['nothing at all', ['data: [DONE]\n\n']],
])('%s is a bad stream', async (_, text) => {
  const error = await failure({ reply: () => ({ text, end: 'finish' }) });
  expect(error).toMatchObject({ class: 'bad_stream', retryable: true });
});

test('a tool call that is cut off with the stream is a bad stream, and no call', async () => {
  const fragment = chunk(callFragment(0, { id: 'a', name: 'pay', arguments: '{"amount": 1' }));
  const error = await failure({ reply: () => ({ text: [event(fragment)], end: 'finish' }) });
  expect(error).toMatchObject({ class: 'bad_stream' });
});

test('an abort closes the connection and gives the reason', async () => {
  const stop = new AbortController();
  const model = await modelOf({ reply: () => ({ text: [event(chunk({ content: 'Hel' }))], end: 'open' }) });
  const run = async () => {
    for await (const some of model?.stream(call({ signal: stop.signal })) ?? []) {
      if (some.length > 0) stop.abort(new Error('enough'));
    }
  };
  await expect(run()).rejects.toThrow('enough');
  await server?.abandoned;
});

test('a redirect is refused, and the key does not follow it', async () => {
  await using elsewhere = await fakeOpenAi(() => ({ status: 200 }));
  const error = await failure({
    reply: () => ({ status: 307, headers: { location: `${elsewhere.url}/chat/completions` } }),
  });
  expect(error).toMatchObject({ class: 'network', retryable: false });
  expect(error.message).toContain('redirect');
  expect(elsewhere.requests).toEqual([]);
});

test('the credential of a call is sent in the place of the configured key', async () => {
  await parts({ ...chunks(chunk({ content: 'x' }), chunk({}, 'stop')), call: { credential: 'sk-of-the-caller-42' } });
  expect(server?.requests[0]?.headers.authorization).toBe('Bearer sk-of-the-caller-42');
});

test('configured headers are sent', async () => {
  await parts({
    ...chunks(chunk({ content: 'x' }), chunk({}, 'stop')),
    config: { headers: { 'x-team': secret('blue') } },
  });
  expect(server?.requests[0]?.headers['x-team']).toBe('blue');
});

test.each(['openai', 'anthropic', 'google'] as const)('%s without a key is refused before any call', async (kind) => {
  const error = await failure({ reply: () => ({ status: 200 }), config: { kind, apiKey: undefined } });
  expect(error).toMatchObject({ class: 'auth' });
  expect(server?.requests).toEqual([]);
});

test('what is configured of a model is told, and nothing is made up for others', async () => {
  const prices = { input: 1, output: 2 };
  const config: ProviderConfig = {
    kind: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:1/v1',
    headers: {},
    models: { small: { prices, contextTokens: 8000, capabilities: ['function-calling'] } },
  };
  const provider = createProviders({ local: config }, { fetch }).get('local');
  expect(provider?.listed).toEqual(['small']);
  expect(provider?.model('small')).toMatchObject({ prices, contextTokens: 8000, isScripted: false });
  expect([...(provider?.model('small').capabilities ?? [])]).toEqual(['function-calling']);
  expect(provider?.model('constructor')).toMatchObject({ prices: null, contextTokens: null });
});
