/** The settings of nodes that call one tool of an MCP server, without a model. */
import { isJsonObject, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';
import { anyJsonObject } from '../../engine/nodes/config-fields.ts';
import { defineNodeType, type NodeType } from '../../engine/workflow/node-type.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { createToolDriver } from './tool-driver.ts';

const serverId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be the id of an MCP server');
const toolName = z.string().min(1).max(128);

const toolCallConfig = z.strictObject({
  serverId,
  toolName,
  arguments: anyJsonObject.optional(),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
});

/** `mcp` of a prompt node. Published workflows name no server: a host then uses the only one that it has. */
export const promptToolConfig = z.strictObject({
  tool: toolName,
  arguments: anyJsonObject.optional(),
  serverId: serverId.optional(),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
});

/** Whether a prompt node calls a tool in place of a model. */
export const callsTool = ({ config }: Pick<WorkflowNode, 'config'>): boolean => isJsonObject(config.mcp);

export function createToolNode(options: LoopOptions) {
  return defineNodeType({
    typeId: 'core.mcp.toolCall',
    config: toolCallConfig,
    driver: createToolDriver(options),
    begin: () => ({ kind: 'wait', drafts: [] }),
  }) satisfies NodeType;
}
