import { createHash } from 'node:crypto';
import type { Json } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { llmCacheKey, type SemanticRequest } from './cache-key.ts';

const sha256 = (text: string, encoding: 'hex' | 'base64url') => createHash('sha256').update(text).digest(encoding);
const key = (request: SemanticRequest) => llmCacheKey(request, sha256);

const base: SemanticRequest = {
  provider: 'local',
  model: 'm',
  request: { messages: [{ role: 'user', text: 'é\u0301' }], temperature: 1 },
};

test('texts that are cut in the middle of a character have a key, that of the text as it is sent', () => {
  const keyOf = (text: string) =>
    llmCacheKey({ provider: 'p', model: 'm', request: { messages: [{ role: 'user', content: text }] } }, sha256);
  expect(keyOf('a\ud83d')).toBe(keyOf('a\ufffd'));
});

test('is the sha256 of the canonical JSON of the recipe', () => {
  const text =
    '{"model":"m","provider":"local","recipe":"openwop-semantic-request-v2","request":{"messages":[{"role":"user","text":"é\u0301"}],"temperature":1}}';
  expect(key(base)).toBe(sha256(text, 'hex'));
  expect(key(base)).toMatch(/^[0-9a-f]{64}$/);
});

test('does not depend on the order of keys or of tools', () => {
  const a = { name: 'a', description: 'A', inputSchema: { type: 'object', title: 'x' } };
  const b = { inputSchema: { type: 'object' }, name: 'b', description: 'B' };
  const one = key({ ...base, request: { ...base.request, tools: [a, b] } });
  const reordered = { description: 'A', inputSchema: { title: 'x', type: 'object' }, name: 'a' };
  expect(key({ model: 'm', provider: 'local', request: { tools: [b, reordered], ...base.request } })).toBe(one);
});

test('sorts tools by UTF-16 code units, not by any language', () => {
  const names = ['\u{1F600}', '\uFF21', 'z', 'Z'];
  const tools = names.map((name) => ({ name }));
  let seen = '';
  llmCacheKey({ ...base, request: { messages: [], tools } }, (text) => {
    seen = text;
    return '';
  });
  const order = (JSON.parse(seen) as { request: { tools: { name: string }[] } }).request.tools.map(({ name }) => name);
  expect(order).toEqual(['Z', 'z', '\u{1F600}', '\uFF21']);
});

test.each([
  ['the order of messages', { messages: [{ role: 'a' }, { role: 'b' }] }, { messages: [{ role: 'b' }, { role: 'a' }] }],
  ['the temperature', { messages: [], temperature: 0 }, { messages: [] }],
  ['the length of the answer', { messages: [], maxOutputTokens: 1 }, { messages: [], maxOutputTokens: 2 }],
  ['the format of the answer', { messages: [], responseFormat: { type: 'json' } }, { messages: [] }],
])('depends on %s', (_, one, other) => {
  expect(key({ ...base, request: one })).not.toBe(key({ ...base, request: other }));
});

test('options of a provider count under its name', () => {
  let seen = '';
  llmCacheKey({ ...base, providerOptions: { effort: 'high' } }, (text) => {
    seen = text;
    return '';
  });
  expect((JSON.parse(seen) as { providerOptions: unknown }).providerOptions).toEqual({ 'vendor.local.effort': 'high' });
});

test('of any request it is the canonical JSON of the whole, also of messages that came before', () => {
  const text = fc.string({ unit: 'binary' }).filter((given) => given.isWellFormed());
  const value = fc.jsonValue({ stringUnit: 'grapheme' }) as fc.Arbitrary<Json>;
  const message = fc.dictionary(text, value) as fc.Arbitrary<Json>;
  const request = fc.record(
    {
      messages: fc.array(message),
      tools: fc.array(fc.record({ name: text })),
      temperature: fc.double({ noNaN: true, noDefaultInfinity: true }),
      seed: fc.integer(),
      stop: value,
      responseFormat: value,
    },
    { requiredKeys: ['messages'] },
  );
  fc.assert(
    fc.property(request, fc.array(message), (first, more) => {
      for (const whole of [first, { ...first, messages: [...first.messages, ...more] }]) {
        const seen: string[] = [];
        llmCacheKey({ ...base, request: whole as SemanticRequest['request'] }, (given) => {
          seen.push(given);
          return '';
        });
        expect(seen).toEqual([canonicalize(JSON.parse(seen[0] ?? ''))]);
        expect(JSON.parse(seen[0] ?? '').request.messages).toEqual(JSON.parse(JSON.stringify(whole.messages)));
      }
    }),
  );
});
