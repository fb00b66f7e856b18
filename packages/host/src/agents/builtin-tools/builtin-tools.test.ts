import { type Json, TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Tool } from '../tools/tool.ts';
import { toolCaller } from '../tools/tool-caller.kit.ts';
import { type BuiltinToolPorts, createBuiltinTools } from './builtin-tools.ts';
import type { HttpFetch, HttpFetched } from './http-tool.ts';

const untouched = () => {
  throw new Error('this was not to be asked');
};

const ports = (change: Partial<BuiltinToolPorts> = {}): BuiltinToolPorts => ({
  now: () => Date.UTC(2026, 6, 1, 12),
  files: { read: untouched, list: untouched },
  memory: { remember: untouched, recall: untouched, forget: untouched },
  http: { fetch: untouched },
  ...change,
});

const toolNamed = (id: string, change: Partial<BuiltinToolPorts> = {}): Tool => {
  const found = createBuiltinTools(ports(change)).find((tool) => tool.id === id);
  if (found === undefined) throw new Error(`There is no ${id}.`);
  return found;
};

const resultOf = async (tool: Tool, input: Json): Promise<Json> => {
  const outcome = await toolCaller().call(tool, input);
  if (outcome.kind !== 'result') throw new Error(JSON.stringify(outcome));
  return outcome.value;
};

test('what each of them may do is said of it', () => {
  const facts = createBuiltinTools(ports()).map(({ id, safety, untrusted, egress }) => [id, safety, untrusted, egress]);
  expect(facts).toEqual([
    ['openwop:time', 'read', false, 'none'],
    ['openwop:ask', 'read', false, 'none'],
    ['openwop:fs.read', 'read', true, 'none'],
    ['openwop:fs.write', 'idempotent', false, 'none'],
    ['openwop:fs.list', 'read', true, 'none'],
    ['openwop:remember', 'idempotent', false, 'none'],
    ['openwop:recall', 'read', true, 'none'],
    ['openwop:forget', 'idempotent', false, 'none'],
    ['openwop:http.fetch', 'write', true, 'safe-fetch'],
  ]);
});

test('where nothing may be fetched there is no tool that fetches', () => {
  const ids = createBuiltinTools(ports({ http: null })).map(({ id }) => id);
  expect(ids).not.toContain('openwop:http.fetch');
});

test('the clock tells the time of the host, also as a place shows it', async () => {
  expect(await resultOf(toolNamed('openwop:time'), {})).toEqual({
    utc: '2026-07-01T12:00:00.000Z',
    epochMs: 1_782_907_200_000,
  });
  expect(await resultOf(toolNamed('openwop:time'), { timeZone: 'Europe/Berlin' })).toMatchObject({
    local: expect.stringContaining('14:00:00'),
  });
  expect(await toolCaller().call(toolNamed('openwop:time'), { timeZone: 'Mars/Base' })).toMatchObject({
    kind: 'failed',
    error: { code: 'tool_invalid_arguments' },
  });
});

test('a person is asked, with choices or a schema, and the answer is the result', async () => {
  const ask = toolNamed('openwop:ask');
  const caller = toolCaller();
  const asked = await caller.call(ask, { question: 'Which?', choices: ['a', 'b'] });
  expect(asked).toEqual({
    kind: 'suspended',
    ordinal: 0,
    question: { kind: 'ask', name: 'Which?', prompt: 'Which?', schema: { enum: ['a', 'b'] } },
  });
  caller.answer(asked, 'b');
  expect(await caller.call(ask, { question: 'Which?', choices: ['a', 'b'] })).toEqual({ kind: 'result', value: 'b' });
  const schema = { type: 'object', required: ['n'] };
  expect(await toolCaller().call(ask, { question: 'n?', schema })).toMatchObject({ question: { schema } });
  for (const input of [
    {},
    { question: '' },
    { question: 'x', choices: ['a'] },
    { question: 'x', choices: ['a', 'b'], schema },
  ]) {
    expect(await toolCaller().call(ask, input)).toMatchObject({ error: { code: 'tool_invalid_arguments' } });
  }
  expect(await toolCaller().call(ask, { question: 'x', schema: { type: 'odd' } })).toMatchObject({ kind: 'failed' });
});

test('files are those of the conversation of the run that calls', async () => {
  const seen: unknown[] = [];
  const files: BuiltinToolPorts['files'] = {
    read: async (...asked) => {
      seen.push(asked);
      return { text: 'hello', bytes: 5, nextOffset: null };
    },
    list: async (...asked) => {
      seen.push(asked);
      return [{ path: 'a', bytes: 5 }];
    },
  };
  expect(await resultOf(toolNamed('openwop:fs.read', { files }), { path: 'a/b.md' })).toEqual({
    path: 'a/b.md',
    text: 'hello',
    bytes: 5,
    nextOffset: null,
  });
  await resultOf(toolNamed('openwop:fs.list', { files }), {});
  const reader = { tenant: expect.any(String), contextId: expect.any(String), runId: 'run_1' };
  expect(seen).toEqual([
    [reader, 'a/b.md', { offset: 0, maxBytes: 100_000 }],
    [reader, ''],
  ]);
});

test.each([
  '..',
  '.',
  '',
  '/',
  '/etc/passwd',
  'a/../b',
  '../a',
  'a/..',
  'a//b',
  'a/',
  './a',
  'a/./b',
  'a\\b',
  '..\\a',
  'C:\\a',
  'a\0b',
  'a\nb',
  'a\u202eb',
  '\ud800',
  'x'.repeat(129),
  `${'a/'.repeat(16)}a`,
])('%j is no path of a file, for any of the tools', async (path) => {
  for (const id of ['openwop:fs.read', 'openwop:fs.write', 'openwop:fs.list']) {
    const input =
      id === 'openwop:fs.write' ? { path, text: '' } : id === 'openwop:fs.list' ? { folder: path } : { path };
    expect(await toolCaller().call(toolNamed(id), input)).toMatchObject({ error: { code: 'tool_invalid_arguments' } });
  }
});

test.each(['a', 'a/b.md', '.hidden', '..a', 'a..', 'ä/ö 1.txt', '...'])('%j is the path of a file', (path) => {
  expect(toolNamed('openwop:fs.read').check({ path })).toMatchObject({ ok: true });
});

test('notes are kept and found in the name of the call', async () => {
  const seen: unknown[] = [];
  const memory: BuiltinToolPorts['memory'] = {
    remember: async ({ tenant, agentId, callId, contextId, requestedSeq }, entry) => {
      seen.push({ tenant, agentId, callId, contextId, requestedSeq, entry });
      return { id: 'mem_1', content: 'is not repeated' };
    },
    recall: async (_call, query) => {
      seen.push(query);
      return [{ id: 'mem_1', content: 'x' }];
    },
    forget: async (_call, { id, in: where }) => id === 'mem_1' && where !== 'scratchpad',
  };
  const note = { content: 'x', tags: ['t'], in: 'conversation', forDays: 0.5 };
  expect(await resultOf(toolNamed('openwop:remember', { memory }), note)).toEqual({ id: 'mem_1' });
  expect(await resultOf(toolNamed('openwop:forget', { memory }), { id: 'mem_1' })).toEqual({ forgotten: true });
  const elsewhere = { id: 'mem_1', in: 'scratchpad' };
  expect(await resultOf(toolNamed('openwop:forget', { memory }), elsewhere)).toEqual({ forgotten: false });
  expect(await resultOf(toolNamed('openwop:recall', { memory }), { text: 'x', limit: 3 })).toEqual({
    entries: [{ id: 'mem_1', content: 'x' }],
  });
  expect(seen).toEqual([
    {
      tenant: 'acme',
      agentId: 'core.a.b.c',
      callId: 'agent#0.0/t1.0',
      contextId: 'ctx_1',
      requestedSeq: 7,
      entry: { content: 'x', tags: ['t'], in: 'conversation', ttlMs: 43_200_000 },
    },
    { text: 'x', limit: 3 },
  ]);
});

const answer = (change: Partial<HttpFetched>): HttpFetched => ({
  status: 200,
  url: 'https://a.example/',
  contentType: 'text/plain',
  location: null,
  body: new TextEncoder().encode('hello'),
  isCut: false,
  ...change,
});

const fetching = (fetched: HttpFetched, seen: HttpFetch[] = []): Tool =>
  toolNamed('openwop:http.fetch', {
    http: {
      fetch: async (request) => {
        seen.push(request);
        return fetched;
      },
    },
  });

test('reading may be repeated, all else is a write and carries a key by which it is known', async () => {
  const seen: HttpFetch[] = [];
  const tool = fetching(answer({}), seen);
  const safeties = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    tool.safetyOf({ url: 'https://a.example/', method }),
  );
  expect([tool.safetyOf({ url: 'https://a.example/' }), ...safeties]).toEqual([
    'read',
    'read',
    'read',
    'write',
    'write',
    'write',
    'write',
  ]);
  await resultOf(tool, { url: 'https://a.example/', headers: { accept: 'text/html' } });
  await resultOf(tool, { url: 'https://a.example/', method: 'POST', body: '{}' });
  expect(seen.map(({ method, headers, body }) => [method, headers, body])).toEqual([
    ['GET', { accept: 'text/html' }, undefined],
    ['POST', { 'idempotency-key': 'key' }, '{}'],
  ]);
});

test.each<[string, Json]>([
  ['a header that is a credential', { headers: { authorization: 'Bearer x' } }],
  ['a header that names another host', { headers: { host: 'internal' } }],
  ['a header that changes the method', { headers: { 'x-http-method-override': 'DELETE' } }],
  ['a header that smuggles another', { headers: { accept: 'a\r\nhost: internal' } }],
  ['another method', { method: 'CONNECT' }],
  ['a body where there is none', { body: 'x' }],
  ['an address without end', { url: `https://a.example/${'x'.repeat(2048)}` }],
])('does not take %s', async (_what, change) => {
  const input = { url: 'https://a.example/', ...(change as object) } as Json;
  expect(await toolCaller().call(toolNamed('openwop:http.fetch'), input)).toMatchObject({
    error: { code: 'tool_invalid_arguments' },
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);

test.each<[string, Partial<HttpFetched>, object]>([
  ['text', {}, { text: 'hello' }],
  ['JSON', { contentType: 'application/json; charset=utf-8', body: bytes('{"a":1}') }, { json: { a: 1 } }],
  ['JSON of a kind', { contentType: 'application/ld+json', body: bytes('[1]') }, { json: [1] }],
  ['JSON that is none', { contentType: 'application/json', body: bytes('{a') }, { text: '{a' }],
  ['JSON that was cut', { contentType: 'application/json', body: bytes('1'), isCut: true }, { text: '1', isCut: true }],
  ['another alphabet', { contentType: 'text/plain; charset=iso-8859-1', body: new Uint8Array([0xe9]) }, { text: 'é' }],
  ['an alphabet nobody knows', { contentType: 'text/plain; charset=klingon' }, { text: 'hello' }],
  ['a picture', { contentType: 'image/png' }, { bytes: 5, note: 'The body is not text.' }],
  ['nothing', { contentType: null, body: new Uint8Array() }, {}],
  ['a redirect that is not followed', { status: 303, location: '/b', body: new Uint8Array() }, { location: '/b' }],
])('an answer of %s is shown as such', async (_what, change, expected) => {
  const fetched = answer(change);
  const { status, url, contentType } = fetched;
  expect(await resultOf(fetching(fetched), { url: 'https://a.example/' })).toEqual({
    status,
    url,
    ...(contentType === null ? {} : { contentType }),
    ...expected,
  });
});

test('an address that is refused is an error with its code', async () => {
  const http = {
    fetch: async () => {
      throw new TerminalError('http_url_rejected', { message: '"https://b.example" may not be called.' });
    },
  };
  expect(await toolCaller().call(toolNamed('openwop:http.fetch', { http }), { url: 'https://b.example' })).toEqual({
    kind: 'failed',
    error: { code: 'http_url_rejected', message: '"https://b.example" may not be called.', retryable: false },
  });
});
