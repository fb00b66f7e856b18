/** Nodes that call a tool: what registration takes, and who may call. */
import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { workflowOf } from '../../../test/kit/run-script.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import { checkDefinition } from '../../engine/workflow/registration.ts';
import { createAgentNodes } from '../loop/agent-node.ts';
import { testLoopOptions } from '../loop/agent-script.kit.ts';

const nodeTypes = createNodeTypeRegistry([], createAgentNodes(testLoopOptions()));

const registered = (type: string, config: JsonObject) => () =>
  checkDefinition(workflowOf({ a: { type, config } as never }), nodeTypes);

test.each<[string, JsonObject]>([
  ['core.mcp.toolCall', { serverId: 'search', toolName: 'find' }],
  ['core.mcp.toolCall', { serverId: 'search', toolName: 'find', arguments: { a: 1 }, timeoutMs: 5 }],
  ['core.ai.callPrompt', { mcp: { tool: 'echo', arguments: { text: 'x' } } }],
  ['core.ai.callPrompt', { mcp: { tool: 'echo', serverId: 'search', timeoutMs: 5 } }],
])('%s takes %j', (type, config) => {
  expect(registered(type, config)).not.toThrow();
});

test.each<[string, JsonObject, RegExp]>([
  ['core.mcp.toolCall', { toolName: 'find' }, /config\.serverId/],
  ['core.mcp.toolCall', { serverId: 'a/b', toolName: 'find' }, /must be the id of an MCP server/],
  ['core.mcp.toolCall', { serverId: 'a', toolName: 'find', command: 'rm' }, /config\.command .*is not known/],
  ['core.mcp.toolCall', { serverId: 'a', toolName: 'find', timeoutMs: 0 }, /config\.timeoutMs/],
  ['core.ai.callPrompt', { mcp: { tool: 'echo' }, prompt: 'x' }, /must be the only setting/],
  ['core.ai.structuredOutput', { mcp: { tool: 'echo' }, outputSchema: {} }, /config\.mcp .*is not known/],
])('%s refuses %j', (type, config, message) => {
  expect(registered(type, config)).toThrow(message);
});

test('the calls of every node that acts as an agent or calls a tool can be read in a record', () => {
  const driven = [...nodeTypes.values()].filter(({ driver }) => driver?.runChange !== undefined);
  expect(driven.map(({ typeId }) => typeId)).toContain('core.ai.callPrompt');
  for (const { typeId, driver } of driven) expect(driver?.recorded, typeId).toBeDefined();
});
