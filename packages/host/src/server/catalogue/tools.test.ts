import { toolDescriptor, toolList } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { keys, openTool, ownTool, scopedTool, served } from '../served.kit.ts';

const idsOf = (body: unknown): readonly string[] => toolList.parse(body).tools.map(({ toolId }) => toolId);

test('the catalogue holds what the runs of the caller may call, by id, and no more', async () => {
  const host = await served();
  const listed = async (key: string) => idsOf((await host.ask('GET', '/v1/tools', { key })).body);
  expect(await listed(keys.auditor)).toEqual([ownTool.id, openTool.id, scopedTool.id]);
  // Without the scope that a tool needs it is not there, nor is what is another tenant's.
  expect(await listed(keys.alice)).toEqual([ownTool.id, openTool.id]);
  expect(await listed(keys.stranger)).toEqual([openTool.id]);
});

test('a tool is described by what it takes, what it needs and what it may do', async () => {
  const host = await served();
  const path = `/v1/tools/${encodeURIComponent(scopedTool.id)}`;
  const reply = await host.ask('GET', path, { key: keys.auditor });
  expect(toolDescriptor.parse(reply.body)).toEqual({
    toolId: 'acme:refund',
    source: 'host-extension',
    description: 'A tool of the tests.',
    inputSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
    auth: { scopes: ['tool:refunds'] },
    egress: 'host-owned',
    approval: 'never',
    replayPolicy: 'non-deterministic',
    safetyTier: 'write',
  });
});

test('a tool of another tenant, one whose scope the caller lacks and one that nobody has are not found alike', async () => {
  const host = await served();
  const asked: readonly (readonly [string, string])[] = [
    [ownTool.id, keys.stranger],
    [scopedTool.id, keys.alice],
    ['acme:nothing', keys.alice],
  ];
  for (const [toolId, key] of asked) {
    const reply = await host.ask('GET', `/v1/tools/${encodeURIComponent(toolId)}`, { key });
    expect([toolId, reply.status, reply.body.error]).toEqual([toolId, 404, 'not_found']);
    expect(reply.body.message).toBe(`There is no tool ${JSON.stringify(toolId)}.`);
  }
  for (const toolId of ['constructor', '*']) {
    const reply = await host.ask('GET', `/v1/tools/${encodeURIComponent(toolId)}`);
    expect([reply.status, reply.body.message]).toEqual([404, 'There is no such tool: this is no tool id.']);
  }
});

test('the catalogue can be asked for one kind of tool, and without schemas', async () => {
  const host = await served();
  expect(idsOf((await host.ask('GET', '/v1/tools?source=host-extension')).body)).toHaveLength(2);
  expect(idsOf((await host.ask('GET', '/v1/tools?source=mcp')).body)).toEqual([]);
  const compact = toolList.parse((await host.ask('GET', '/v1/tools?view=compact')).body).tools;
  expect(compact).toHaveLength(2);
  for (const tool of compact) expect(tool).not.toHaveProperty('inputSchema');
  for (const wrong of ['source=odd', 'view=long', 'source=']) {
    const reply = await host.ask('GET', `/v1/tools?${wrong}`);
    expect([wrong, reply.status, reply.body.error]).toEqual([wrong, 400, 'validation_error']);
  }
});
