/** The node type that calls one tool of an MCP server, without a model. */
import { defineNodeType, type NodeType } from '../../engine/workflow/node-type.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { toolCallConfig } from './tool-config.ts';
import { createToolDriver } from './tool-driver.ts';

export function createToolNode(options: LoopOptions) {
  return defineNodeType({
    typeId: 'core.mcp.toolCall',
    config: toolCallConfig,
    driver: createToolDriver(options),
    begin: () => ({ kind: 'wait', drafts: [] }),
  }) satisfies NodeType;
}
