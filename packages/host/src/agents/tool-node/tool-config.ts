/** The settings of nodes that call one tool of an MCP server, without a model. */
import { z } from 'zod';
import { anyJsonObject } from '../../engine/nodes/config-fields.ts';

const serverId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be the id of an MCP server');
const toolName = z.string().min(1).max(128);

export const toolCallConfig = z.strictObject({
  serverId,
  toolName,
  arguments: anyJsonObject.optional(),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
});

export type ToolCallConfig = z.infer<typeof toolCallConfig>;

/** `mcp` of a prompt node. Published workflows name no server: a host then uses the only one that it has. */
export const promptToolConfig = z.strictObject({
  tool: toolName,
  arguments: anyJsonObject.optional(),
  serverId: serverId.optional(),
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
});

/** Whether a prompt node calls a tool in place of a model. */
export const callsTool = ({ mcp }: { readonly mcp?: z.infer<typeof promptToolConfig> | undefined }): boolean =>
  mcp !== undefined;
