/** The node types that act as an agent, all driven by the agent loop. */
import { defineNodeType, type NodeType, type Problem } from '../../engine/workflow/node-type.ts';
import { promptRefs } from '../prompts/prompt-chain.ts';
import { eitherDriver } from '../tool-node/either-driver.ts';
import { callsTool } from '../tool-node/tool-config.ts';
import { createToolDriver } from '../tool-node/tool-driver.ts';
import { createToolNode } from '../tool-node/tool-node.ts';
import { type AgentConfig, agentConfig, promptConfig, promptOrToolConfig } from './agent-config.ts';
import { boundaryRows } from './boundary.ts';
import { clientToolProblems } from './calls/tool-access.ts';
import { createAgentDriver } from './driver.ts';
import type { LoopOptions } from './loop-options.ts';
import { costProblems, modelNameOf } from './run-costs.ts';

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
  }) satisfies Partial<NodeType<AgentConfig>>;

/** Only without `mcp` does the node act as an agent. */
function promptNode(options: LoopOptions) {
  const shared = agentNode(options);
  return defineNodeType({
    ...shared,
    typeId: 'core.ai.callPrompt',
    config: promptOrToolConfig,
    driver: eitherDriver(shared.driver, createToolDriver(options)),
    actsAsAgent: ({ config }) => !callsTool(config),
    checkRun: (node, run) => (callsTool(node.config) ? [] : shared.checkRun(node, run)),
    modelOf: (node, run) => (callsTool(node.config) ? null : shared.modelOf(node, run)),
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
