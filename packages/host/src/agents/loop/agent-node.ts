/** The node types that act as an agent: their config schemas and the agent loop that drives them. */
import { z } from 'zod';
import { jsonSchema, text } from '../../engine/nodes/config-fields.ts';
import { agentSharing } from '../../engine/workflow/agent-sharing.ts';
import { defineNodeType, type NodeDriver, type NodeType, type Problem } from '../../engine/workflow/node-type.ts';
import { hasOneSystemPrompt, oneSystemPromptOnly, promptRefFields, promptRefs } from '../prompts/prompt-chain.ts';
import { eitherDriver } from '../tool-node/either-driver.ts';
import { createToolDriver } from '../tool-node/tool-driver.ts';
import { callsTool, createToolNode, promptToolConfig } from '../tool-node/tool-node.ts';
import { clientToolSet } from '../tools/client-tools.ts';
import { boundaryRows } from './boundary.ts';
import { limits } from './budgets.ts';
import { clientToolProblems } from './calls/tool-access.ts';
import { createAgentDriver } from './driver.ts';
import type { LoopOptions } from './loop-options.ts';
import { MAX_REPAIRS, SCHEMA_ROUNDS } from './repairs.ts';
import { costProblems, modelNameOf } from './run-costs.ts';

/** Config fields that every agent node accepts. */
export const agentFields = {
  limits: limits.optional(),
  reasoningVerbosity: z.enum(['summary', 'full', 'off']).optional(),
  agentSharing: agentSharing.optional(),
  model: text.optional(),
  provider: text.optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).max(10_000_000).optional(),
  outputSchema: jsonSchema.optional(),
  ...promptRefFields,
};

const agentConfig = z.strictObject({
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

const promptConfig = z.strictObject(promptFields).refine(hasOneSystemPrompt, oneSystemPromptOnly);

/** A prompt node can call a tool of an MCP server instead. A setting for a model would then have no effect. */
const promptOrToolConfig = z
  .strictObject({ ...promptFields, mcp: promptToolConfig.optional() })
  .refine(hasOneSystemPrompt, oneSystemPromptOnly)
  .refine(({ mcp, ...others }) => mcp === undefined || Object.keys(others).length === 0, {
    path: ['mcp'],
    message: 'must be the only setting: the node calls a tool, and no model',
  });

const needsAgent: Problem = {
  path: ['agent'],
  message: 'must name the agent that acts here, as { "agentId": … }',
};

const needsSchema: Problem = {
  path: ['config', 'outputSchema'],
  message: 'it must say what the result looks like, or agent name one that has a return schema',
};

/** The parts that all agent node types share. */
const agentNode = (options: LoopOptions) =>
  ({
    driver: createAgentDriver(options),
    actsAsAgent: () => true,
    promptRefs,
    checkRun: (node, run) => [...costProblems(node, run, options), ...clientToolProblems(node, run)],
    modelOf: (node, run) => modelNameOf(node, run, options),
    begin: (context) => ({ kind: 'wait', drafts: boundaryRows(context) }),
  }) satisfies Partial<NodeType>;

/** Only without `mcp` does the node act as an agent. */
function promptNode(options: LoopOptions) {
  const shared = agentNode(options);
  const byTool: NodeDriver = createToolDriver(options);
  return defineNodeType({
    ...shared,
    typeId: 'core.ai.callPrompt',
    config: promptOrToolConfig,
    driver: eitherDriver(shared.driver, byTool),
    actsAsAgent: (node) => !callsTool(node),
    checkRun: (node, run) => (callsTool(node) ? [] : shared.checkRun(node, run)),
    modelOf: (node, run) => (callsTool(node) ? null : shared.modelOf(node, run)),
  });
}

/** Creates the agent node types. */
export function createAgentNodes(options: LoopOptions) {
  return [
    defineNodeType({
      ...agentNode(options),
      typeId: 'cairn.agent',
      config: agentConfig,
      check: ({ node }) => (node.agent === undefined ? [needsAgent] : []),
    }),
    promptNode(options),
    createToolNode(options),
    defineNodeType({
      ...agentNode(options),
      typeId: 'core.ai.structuredOutput',
      config: promptConfig,
      check: ({ config, node }) => (node.agent === undefined && config.outputSchema === undefined ? [needsSchema] : []),
    }),
  ] as const satisfies readonly NodeType[];
}
