/** What authors need to know about the node types that act as agents. */
import type { NodeDoc } from '../workflow/node-doc.ts';

const agentSettings = {
  limits: '`maxTurns`, `maxToolCalls`, `maxTokens`, `maxCostUsd` of this node.',
  reasoningVerbosity: '`summary`, `full` or `off`. Default: that of the host.',
  agentSharing: '`isolated` (default), `shared` or `shared:<group>`: with whom it shares its conversation.',
  model: 'The model. Default: chosen by the class of the agent.',
  provider: 'The provider of the model.',
  temperature: 'From 0 to 2.',
  maxTokens: 'The most tokens of one answer of the model.',
  systemPromptRef: 'A prompt template instead of the prompt of the agent.',
  userPromptRef: 'A prompt template for the first message.',
  schemaHintPromptRef: 'A prompt template that explains the schema of the result.',
  fewShotPromptRefs: 'Prompt templates with examples.',
};
const outputSchema = 'A JSON Schema that the result must fit. Default: the return schema of the agent.';
const promptSettings = {
  ...agentSettings,
  outputSchema,
  systemPrompt: 'The system prompt, for a node that names no agent.',
  prompt: 'The task. Default: the inputs of the node.',
  retryOnInvalidJson: 'How often a result that does not fit its schema is asked for again.',
  promptId: 'Published workflows have it. It has no effect.',
  expectsStreaming: 'Published workflows have it. It has no effect.',
};
const result = {
  outputs: {
    content: 'The text of the agent.',
    result: 'With a schema: the result.',
    decision: 'The decision that the agent stated.',
    confidence: 'How sure the agent is, from 0 to 1, if it says so.',
    agentId: 'The agent that finished the work.',
  },
};

export const agentNodeDocs: Readonly<Record<string, NodeDoc>> = {
  'cairn.agent': {
    summary: 'Lets an agent work on a task with its tools. `agent` of the node names it.',
    settings: { ...agentSettings, outputSchema },
    ...result,
  },
  'core.ai.callPrompt': {
    summary:
      'Calls a model with a prompt, as an agent or without one. With `mcp` it calls a tool of an MCP server instead.',
    settings: {
      ...promptSettings,
      mcp: 'The only setting then: `tool`, and `arguments`, `serverId` (by default the only server of the host), `timeoutMs`.',
    },
    outputs: { ...result.outputs, contentTrust: 'With `mcp`: `untrusted`.' },
  },
  'core.mcp.toolCall': {
    summary: 'Calls a tool of an [MCP server](mcp.md) of the host, without a model.',
    settings: {
      serverId: 'The `id` of the server in the configuration.',
      toolName: 'The name of the tool at the server.',
      arguments: 'The arguments. Inputs of the node come before them.',
      timeoutMs: 'Less than `timeoutMs` of the server.',
    },
    inputs: { arguments: 'An object of arguments. Any other input except `input` is one argument.' },
    outputs: {
      result: 'What the tool returned. It is third-party text or data.',
      contentTrust: '`untrusted`.',
    },
  },
  'core.a2a.invoke': {
    summary: 'Sends a message to an A2A peer of the configuration, and waits for its answer.',
    settings: {
      peer: 'The name of the peer in `a2a.peers`. Default: the only one.',
      skill: 'A skill of its card. The call fails if the card has skills, and not this one.',
      prompt: 'The message. Default: the inputs of the node.',
      agentSharing: 'With `shared`, calls of the same context go on with one conversation at the peer.',
      outputSchema: 'A JSON Schema that the answer, as JSON, must fit.',
    },
    outputs: {
      content: 'The answer of the peer.',
      result: 'With a schema: the answer, parsed.',
      agentId: 'The agent of the peer.',
    },
  },
  'core.ai.structuredOutput': {
    summary: 'Calls a model for a result that fits a schema.',
    settings: promptSettings,
    ...result,
  },
  'core.orchestrator.supervisor': {
    summary: 'An agent that decides how the run continues. `core.dispatch` carries its decisions out.',
    settings: {
      ...agentSettings,
      workers: 'The workflows that it may send, each with an `id` and a `description`.',
      mockDispatchPlan: 'For hosts under test: decisions in place of an agent.',
      mockDecisions: 'For hosts under test: decisions in place of an agent.',
      mockConfidence: 'For hosts under test: the confidence of these decisions.',
      mockPendingDecision: 'For hosts under test: the decision that this confidence belongs to.',
    },
    outputs: { decision: 'The decision.' },
  },
};
