import type { Json } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolOptions } from './define-tool.ts';

const options: ToolOptions<{ id: string }> = {
  id: 'acme.crm:lookup',
  description: 'Finds a customer.',
  input: z.object({ id: z.string().min(1) }),
  run: async ({ id }) => id,
};

test('a tool is a write of a minute that needs nothing and is not trusted, unless it says otherwise', () => {
  const tool = defineTool(options);
  expect(tool).toMatchObject({
    safety: 'write',
    timeoutMs: 60_000,
    needs: [],
    secrets: [],
    untrusted: true,
    egress: 'host-owned',
  });
  expect(tool.inputSchema).toEqual({
    type: 'object',
    properties: { id: { type: 'string', minLength: 1 } },
    required: ['id'],
  });
});

test('what one call may do can depend on its arguments; the tool as a whole is then a write', () => {
  const tool = defineTool({ ...options, safety: ({ id }) => (id === 'a' ? 'read' : 'write') });
  expect([tool.safety, tool.safetyOf({ id: 'a' }), tool.safetyOf({ id: 'b' }), tool.safetyOf({})]).toEqual([
    'write',
    'read',
    'write',
    'write',
  ]);
});

test.each<[string, Partial<ToolOptions<{ id: string }>>, string]>([
  ['no scope', { id: 'lookup' }, '<scope>:<tool>'],
  ['an empty id', { id: '' }, '<scope>:<tool>'],
  ['a space', { id: 'acme:look up' }, '<scope>:<tool>'],
  ['a pattern', { id: 'acme:*' }, '<scope>:<tool>'],
  ['an id of 65 characters', { id: `acme:${'x'.repeat(60)}` }, 'at most 64'],
  ['the scope of the protocol', { id: 'openwop:mine' }, 'reserved'],
  ['the scope of MCP', { id: 'mcp:mine' }, 'reserved'],
  ['no description', { description: ' ' }, 'description'],
  ['no time', { timeoutMs: 0 }, 'timeoutMs'],
  ['endless time', { timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs'],
  ['a scope of requests', { needs: ['runs:read'] }, 'runs:read'],
  ['an input that is no object', { input: z.string() as never }, 'not an object'],
  ['an input that JSON does not know', { input: z.object({ id: z.bigint() }) as never }, 'JSON Schema'],
  ['an input that is a JSON Schema', { input: { type: 'object' } as never }, 'not a schema of zod'],
  ['no input', { input: undefined as never }, 'not a schema of zod'],
  ['an id that is no text', { id: 7 as never }, 'its id is not a text'],
  ['a description that was forgotten', { description: undefined as never }, 'description'],
  ['no function', { run: undefined as never }, 'no function run'],
  ['an output that is no schema', { output: { type: 'nothing' } }, 'not a JSON Schema'],
])('refuses a tool with %s, by name', (_what, change, message) => {
  expect(() => defineTool({ ...options, ...change })).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) }),
  );
});

test('an unknown option is refused, with the nearest known one', () => {
  const typo = { ...options, saftey: 'read' };
  expect(() => defineTool(typo)).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      message: 'The tool "acme.crm:lookup" cannot be defined: it has no option "saftey".',
      hint: 'Did you mean safety?',
    }),
  );
});

const deep = (depth: number): Json => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json;

test.each<[string, Json, string]>([
  ['a missing field', {}, 'id:'],
  ['a field of another type', { id: 3 }, 'id:'],
  ['a list', ['id'], 'the value:'],
  ['text', 'id', 'the value:'],
  ['null', null, 'the value:'],
  ['a prototype', JSON.parse('{"id":"a","__proto__":{"isAdmin":true}}') as Json, '__proto__'],
  ['a prototype below', JSON.parse('{"id":"a","x":[{"__proto__":{}}]}') as Json, '__proto__'],
  ['a number beyond every double', { id: 'a', n: [Number.POSITIVE_INFINITY] }, 'too large'],
  ['a way to a prototype', { id: 'a', constructor: { prototype: { isAdmin: true } } }, 'constructor.prototype'],
  ['a nest of 10,000 levels', deep(10_000), '100 levels'],
])('does not take %s as arguments, and says why', (_what, input, problem) => {
  const checked = defineTool(options).check(input);
  expect(checked).toMatchObject({ ok: false });
  expect(!checked.ok && checked.problems.join()).toContain(problem);
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test('a schema that has to wait, or whose own check throws, takes nothing', () => {
  const waits = defineTool({ ...options, input: z.object({ id: z.string().refine(async () => true) }) });
  const throws = defineTool({
    ...options,
    input: z.object({
      id: z.string().refine(() => {
        throw new Error('broken check');
      }),
    }),
  });
  for (const tool of [waits, throws]) expect(tool.check({ id: 'a' })).toMatchObject({ ok: false });
});

test('a result is held to a zod schema or to a JSON Schema, whichever was given', () => {
  const schemas = [z.object({ n: z.int() }), { type: 'object', properties: { n: { type: 'integer' } } }] as const;
  for (const output of schemas) {
    const tool = defineTool({ ...options, output, run: async () => ({ n: 1 }) });
    expect(tool.outputProblems({ n: 1 })).toEqual([]);
    expect(tool.outputProblems({ n: 1.5 })).toHaveLength(1);
    expect(tool.outputSchema).toMatchObject({ type: 'object' });
  }
});

test('a tool whose own word on its safety cannot be had is taken to write', () => {
  const throws = defineTool({
    ...options,
    safety: () => {
      throw new Error('broken');
    },
  });
  const unheard = defineTool({ ...options, safety: () => 'harmless' as 'read' });
  for (const tool of [throws, unheard]) expect(tool.safetyOf({ id: 'a' })).toBe('write');
  expect(() => defineTool({ ...options, safety: 'harmless' as 'read' })).toThrow(/its safety is "harmless"/);
});
