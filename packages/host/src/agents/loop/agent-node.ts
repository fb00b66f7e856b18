/** The kinds of node that act as an agent: what their configuration may hold, and the loop behind them. */
import type { Json, JsonObject, WorkflowNode } from '@cairn/protocol';
import { schemaProblems } from '../../engine/nodes/gate-nodes.ts';
import { sharingProblems } from '../../engine/workflow/agent-sharing.ts';
import type { NodeDriver, NodeType } from '../../engine/workflow/node-type.ts';
import { promptRefFields, promptRefProblems } from '../prompts/prompt-chain.ts';
import { boundaryRows } from './boundary.ts';
import { limitProblems } from './budgets.ts';
import { createAgentDriver } from './driver.ts';
import type { LoopOptions } from './loop-options.ts';
import { mockAgent } from './mock-agent.ts';
import { costProblems } from './run-costs.ts';

export type Check = (value: Json, what: string) => readonly string[];

const text: Check = (value, what) => (typeof value === 'string' && value !== '' ? [] : [`${what} must be text`]);
const flag: Check = (value, what) => (typeof value === 'boolean' ? [] : [`${what} must be true or false`]);
const between =
  (from: number, to: number, isWhole: boolean): Check =>
  (value, what) =>
    typeof value === 'number' && value >= from && value <= to && (!isWhole || Number.isInteger(value))
      ? []
      : [`${what} must be a ${isWhole ? 'whole ' : ''}number from ${from} to ${to}`];
const oneOf =
  (...values: readonly string[]): Check =>
  (value, what) =>
    values.includes(value as string) ? [] : [`${what} must be one of ${values.join(', ')}`];

/** What every agent node may be told. */
export const settings: Readonly<Record<string, Check>> = {
  limits: (value, what) => limitProblems(value, what),
  reasoningVerbosity: oneOf('summary', 'full', 'off'),
  agentSharing: sharingProblems,
  model: text,
  provider: text,
  temperature: between(0, 2, false),
  maxTokens: between(1, 10_000_000, true),
  outputSchema: schemaProblems,
  ...Object.fromEntries(promptRefFields.map((field) => [field, () => []])),
};

/** What a node without an agent says itself. The last two stand in published workflows and change nothing. */
const promptSettings: Readonly<Record<string, Check>> = {
  ...settings,
  systemPrompt: text,
  prompt: text,
  promptId: text,
  expectsStreaming: flag,
};

const needsAgent = (node: WorkflowNode): string[] =>
  node.agent === undefined ? ['agent must name the agent that acts here, as { "agentId": … }'] : [];

const needsSchema = ({ agent, config }: WorkflowNode): string[] =>
  agent === undefined && config.outputSchema === undefined
    ? ['config.outputSchema must say what the result looks like, or agent name one that has a return schema']
    : [];

export function configProblems(config: JsonObject, known: Readonly<Record<string, Check>>): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    if (check === undefined) return [`config.${name} is not known; there are ${Object.keys(known).join(', ')}`];
    return check(value, `config.${name}`);
  });
}

function agentNode(
  typeId: string,
  options: LoopOptions,
  known: Readonly<Record<string, Check>>,
  needs: (node: WorkflowNode) => readonly string[],
): NodeType {
  return {
    typeId,
    driver: createAgentDriver(options) as NodeDriver,
    actsAsAgent: () => true,
    checkRun: (node, run) => costProblems(node, run, options),
    check: (node) => [...needs(node), ...configProblems(node.config, known), ...promptRefProblems(node.config)],
    begin: (context) => ({ kind: 'wait', drafts: boundaryRows(context) }),
  };
}

/** Nodes that act as agents, and the one that plays an agent for tests. */
export function createAgentNodes(options: LoopOptions): readonly NodeType[] {
  return [
    agentNode('cairn.agent', options, settings, needsAgent),
    agentNode('core.ai.callPrompt', options, promptSettings, () => []),
    agentNode('core.ai.structuredOutput', options, promptSettings, needsSchema),
    mockAgent(options),
  ];
}
