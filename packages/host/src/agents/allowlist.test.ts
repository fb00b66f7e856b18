import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { authorize, ceilingOf, invocable, permitted, type ToolAccess, toolSurface } from './allowlist.ts';
import { defineTool, hostTool } from './tools/define-tool.ts';
import type { Tool } from './tools/tool.ts';
import { ToolRegistry } from './tools/tool-registry.ts';

const tool = (id: string, needs: readonly string[] = []): Tool =>
  hostTool({ id, description: id, input: z.object({}), egress: 'none', needs, run: () => id });

const registry = new ToolRegistry(
  ['openwop:time', 'openwop:fs.read', 'openwop:fs.write', 'acme.crm:refund', 'acme.crm:look'].map((id) =>
    tool(id, id === 'acme.crm:refund' ? ['tool:refunds'] : []),
  ),
);

const access = (change: Partial<ToolAccess> = {}): ToolAccess => ({
  registry,
  policy: { name: 'tools.allow', lines: ['openwop:*', 'acme.crm:*'] },
  allowlist: ['openwop:*', 'acme.crm:refund'],
  ceiling: undefined,
  scopes: ['tool:refunds'],
  ...change,
});

const shown = (change: Partial<ToolAccess> = {}) => toolSurface(access(change)).map((entry) => entry.tool.id);
const all = ['acme.crm:refund', 'openwop:fs.read', 'openwop:fs.write', 'openwop:time'];

test('an agent is shown what its manifest lists and nothing else, under names that models can say', () => {
  expect(toolSurface(access()).map(({ name, rule }) => [name, rule])).toEqual([
    ['acme_crm_refund', 'toolAllowlist[1] "acme.crm:refund"; tools.allow[1] "acme.crm:*"'],
    ['openwop_fs_read', 'toolAllowlist[0] "openwop:*"; tools.allow[0] "openwop:*"'],
    ['openwop_fs_write', 'toolAllowlist[0] "openwop:*"; tools.allow[0] "openwop:*"'],
    ['openwop_time', 'toolAllowlist[0] "openwop:*"; tools.allow[0] "openwop:*"'],
  ]);
});

test.each<[string, Partial<ToolAccess>, readonly string[]]>([
  ['no allowlist', { allowlist: undefined }, []],
  ['an empty allowlist', { allowlist: [] }, []],
  ['single ids', { allowlist: ['openwop:time', 'openwop:gone'] }, ['openwop:time']],
  ['a family', { allowlist: ['openwop:fs.*'] }, ['openwop:fs.read', 'openwop:fs.write']],
  ['a star that the operator did not write', { allowlist: ['*'] }, []],
  [
    'a star that the operator wrote, too',
    { allowlist: ['*'], policy: { name: 'tools.allow', lines: ['*'] } },
    ['acme.crm:look', ...all],
  ],
  ['a star in the middle', { allowlist: ['openwop:*e', 'open*', 'openwop:t*', '*:time', '**'] }, []],
  ['text that is a pattern elsewhere', { allowlist: ['openwop:.*', 'openwop:fs?read', '/openwop/'] }, []],
  [
    'a policy that is narrower',
    { policy: { name: 'tools.allow', lines: ['openwop:fs.*'] } },
    ['openwop:fs.read', 'openwop:fs.write'],
  ],
  ['an empty policy', { policy: { name: 'tools.allow', lines: [] } }, []],
  ['a run that may use one', { ceiling: ['openwop:time'] }, ['openwop:time']],
  ['a run that may use none', { ceiling: [] }, []],
  ['a run that may use all', { ceiling: ['*'] }, all],
  ['a starter with every scope of tools', { scopes: ['tool:*'] }, all],
  ['a starter without the scope', { scopes: [] }, all.slice(1)],
  ['a starter of whom nothing is known', { scopes: undefined }, all.slice(1)],
])('with %s', (_what, change, ids) => {
  expect(shown(change)).toEqual(ids);
});

test.each<[string, string, Partial<ToolAccess>, string]>([
  ['no allowlist', 'openwop:time', { allowlist: undefined }, 'toolAllowlist is missing, which means no tools'],
  ['an empty one', 'openwop:time', { allowlist: [] }, 'toolAllowlist is empty'],
  ['no line of it', 'acme.crm:look', {}, 'toolAllowlist has no line for acme.crm:look'],
  ['a star', 'openwop:time', { allowlist: ['x:y', '*'] }, 'toolAllowlist[1] "*" counts only where tools.allow has "*"'],
  [
    'the policy of the tenant',
    'openwop:time',
    { policy: { name: 'tools.tenants.acme', lines: ['a:b'] } },
    'tools.tenants.acme has no line for openwop:time',
  ],
  ['the run', 'openwop:time', { ceiling: ['openwop:fs.read'] }, 'cairn.tools has no line for openwop:time'],
  ['scopes', 'acme.crm:refund', { scopes: ['tool:other'] }, 'needs tool:refunds, which the starter of the run lacks'],
])('a call that is denied by %s is told which line decided', (_what, toolId, change, rule) => {
  expect(authorize(access(change), registry.nameOf(toolId))).toEqual({
    allowed: false,
    code: 'forbidden',
    toolId,
    rule: expect.stringContaining(rule),
    message: expect.stringContaining(rule),
    requiredScopes: toolId === 'acme.crm:refund' ? ['tool:refunds'] : [],
  });
});

test('a call by the id is as good as one by the name; what nobody has is not found', () => {
  expect(authorize(access(), 'openwop:time')).toEqual(authorize(access(), 'openwop_time'));
  for (const name of ['', 'openwop_tim', '__proto__', 'constructor', 'openwop_handoff', 'x'.repeat(10_000)]) {
    expect(authorize(access(), name)).toMatchObject({ allowed: false, code: 'tool_not_found', toolId: name });
  }
});

test('whatever the lists say, what is shown can be called and nothing else, and a list more never shows more', () => {
  const line = fc.constantFrom('*', 'openwop:*', 'openwop:fs.*', 'acme.crm:*', 'openwop:time', 'acme.crm:look', 'odd');
  const lines = fc.array(line, { maxLength: 4 });
  fc.assert(
    fc.property(
      lines,
      lines,
      fc.option(lines, { nil: undefined }),
      fc.boolean(),
      (allowlist, policy, ceiling, isHeld) => {
        const drawn = access({
          allowlist,
          policy: { name: 'tools.allow', lines: policy },
          ceiling,
          scopes: isHeld ? ['tool:refunds'] : undefined,
        });
        const names = new Set(toolSurface(drawn).map(({ name }) => name));
        for (const { id } of registry.all) {
          const name = registry.nameOf(id);
          const decided = authorize(drawn, name);
          expect(decided.allowed).toBe(names.has(name));
        }
        const free = toolSurface({ ...drawn, ceiling: undefined }).map(({ name }) => name);
        expect(free).toEqual(expect.arrayContaining([...names]));
        const callable = invocable(drawn).map(({ id }) => registry.nameOf(id));
        expect(callable).toEqual(expect.arrayContaining([...names]));
      },
    ),
  );
});

test('a tenant has its own list, or that of all, or what the host offers', () => {
  const tenants = { acme: ['openwop:time'] };
  expect(permitted({ allow: ['a:b'], tenants }, registry, 'acme')).toEqual({
    name: 'tools.tenants.acme',
    lines: ['openwop:time'],
  });
  expect(permitted({ allow: ['a:b'], tenants }, registry, 'other').lines).toEqual(['a:b']);
  expect(permitted({ allow: undefined, tenants }, registry, 'other').lines).toEqual([
    'acme.crm:*',
    'openwop:*',
    'client:*',
    'mcp:*',
  ]);
  expect(permitted({ allow: [], tenants }, registry, 'constructor').lines).toEqual([]);
});

test('the ceiling of a run is a list of lines; what is none allows nothing', () => {
  expect(ceilingOf(null)).toBeUndefined();
  expect(ceilingOf({})).toBeUndefined();
  expect(ceilingOf({ 'cairn.tools': ['openwop:*'] })).toEqual(['openwop:*']);
  for (const wrong of ['openwop:*', null, 3, [1], { 0: 'openwop:*' }])
    expect(ceilingOf({ 'cairn.tools': wrong })).toEqual([]);
});

test('names are distinct however alike the ids are, and none is the loop’s own', () => {
  const alike = ['a.b:c', 'a:b.c', 'a:b_c', 'a-b:c', `x:${'y'.repeat(62)}`, `x.${'y'.repeat(60)}:y`];
  const made = new ToolRegistry(alike.map((id) => tool(id)));
  const names = made.all.map(({ id }) => made.nameOf(id));
  expect(new Set(names).size).toBe(alike.length);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  for (const { id } of made.all) expect(made.called(made.nameOf(id))?.id).toBe(id);
});

test('a registry refuses two tools of one id, and the ids that the loop answers itself', () => {
  const twin = defineTool({ id: 'acme:x', description: 'x', input: z.object({}), run: () => 1 });
  expect(() => new ToolRegistry([twin, twin])).toThrow('two of them');
  for (const id of ['openwop:handoff', 'openwop:decide'])
    expect(() => new ToolRegistry([tool(id)])).toThrow('agent loop');
});
