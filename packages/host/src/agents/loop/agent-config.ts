/** The settings of nodes that act as agents: a schema for each type of node, and the type that the agent loop reads. */
import { z } from 'zod';
import { jsonSchema, text, wholeNumber } from '../../engine/nodes/config-fields.ts';
import { agentSharing } from '../../engine/workflow/agent-sharing.ts';
import type { DrivenContext, NodeContext } from '../../engine/workflow/node-type.ts';
import { hasOneSystemPrompt, oneSystemPromptOnly, promptRefFields } from '../prompts/prompt-chain.ts';
import { promptToolConfig } from '../tool-node/tool-config.ts';
import { clientToolSet } from '../tools/client-tools.ts';
import { MAX_REPAIRS, SCHEMA_ROUNDS } from './repairs.ts';
import type { LoopState } from './state/loop-state.ts';

/** The limits a node may set. */
const limits = z.strictObject({
  maxTurns: wholeNumber(1).optional(),
  maxToolCalls: wholeNumber(0).optional(),
  maxTokens: wholeNumber(1).optional(),
  maxCostUsd: z.number().min(0).optional(),
});

const modelFields = {
  model: text.optional(),
  provider: text.optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).max(10_000_000).optional(),
};

/** The settings that choose the model of any agent node. */
export const modelSettings = z.object(modelFields);

/** Config fields that every agent node accepts. */
export const agentFields = {
  limits: limits.optional(),
  reasoningVerbosity: z.enum(['summary', 'full', 'off']).optional(),
  agentSharing: agentSharing.optional(),
  ...modelFields,
  outputSchema: jsonSchema.optional(),
  ...promptRefFields,
};

export const agentConfig = z.strictObject({
  ...agentFields,
  clientTools: clientToolSet
    .optional()
    .describe('The tools that the front end of the message runs. The host writes it.'),
});

/** Config of a node that can carry its own prompt. Published workflows contain the last two; they have no effect. */
const promptFields = {
  ...agentFields,
  systemPrompt: text.optional(),
  prompt: text.optional(),
  retryOnInvalidJson: z
    .int()
    .min(0)
    .max(MAX_REPAIRS, `must be at most ${MAX_REPAIRS}, because a result is checked ${SCHEMA_ROUNDS} times at most`)
    .optional(),
  promptId: text.optional(),
  expectsStreaming: z.boolean().optional(),
};

export const promptConfig = z.strictObject(promptFields).refine(hasOneSystemPrompt, oneSystemPromptOnly);

/** A prompt node can call a tool of an MCP server instead. A setting for a model would then have no effect. */
export const promptOrToolConfig = z
  .strictObject({ ...promptFields, mcp: promptToolConfig.optional() })
  .refine(hasOneSystemPrompt, oneSystemPromptOnly)
  .refine(({ mcp, ...others }) => mcp === undefined || Object.keys(others).length === 0, {
    path: ['mcp'],
    message: 'must be the only setting: the node calls a tool, and no model',
  });

/** `core.a2a.invoke`. */
export const peerConfig = z.strictObject({
  peer: text.optional(),
  skill: text.max(256).optional(),
  prompt: text.optional(),
  agentSharing: agentSharing.optional(),
  outputSchema: jsonSchema.optional(),
});

/** The settings of all these nodes. Each type of node has some of them. */
export type AgentConfig = z.infer<typeof agentConfig> & z.infer<typeof promptOrToolConfig> & z.infer<typeof peerConfig>;

/** The context of a node that acts as an agent. */
export type AgentContext = NodeContext<AgentConfig>;

/** The context of a node that the agent loop drives. */
export type LoopContext = DrivenContext<LoopState, AgentConfig>;
