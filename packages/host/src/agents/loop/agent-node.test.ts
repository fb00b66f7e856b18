import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import { drivenInput } from '../../engine/core/driven.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import { checkDefinition } from '../../engine/workflow/registration.ts';
import { createAgentNodes } from './agent-node.ts';
import { testLoopOptions, turnOf } from './agent-script.kit.ts';

const nodeTypes = createNodeTypeRegistry([], createAgentNodes(testLoopOptions()));
const agent = { agentId: 'community.test.crew.solo' };

const registered =
  (type: string, config: JsonObject, more: object = { agent }) =>
  () =>
    checkDefinition(workflowOf({ a: { type, config, ...more } as never }), nodeTypes);

test.each(['cairn.agent', 'core.ai.callPrompt', 'core.ai.structuredOutput'])(
  '%s takes an agent and all its settings',
  (type) => {
    const config = {
      limits: { maxTurns: 3, maxToolCalls: 0, maxTokens: 1000, maxCostUsd: 0.5 },
      reasoningVerbosity: 'full',
      agentSharing: 'shared:desk',
      model: 'small',
      provider: 'scripted',
      temperature: 0,
      maxTokens: 100,
      outputSchema: { type: 'object' },
    };
    expect(registered(type, config)).not.toThrow();
  },
);

test.each<[string, JsonObject, RegExp]>([
  [
    'an unknown setting',
    { modle: 'x' },
    /nodes\[0]\.config\.modle \(node a\): is not known; did you mean model\? There are limits, /,
  ],
  ['a setting of prompt nodes', { systemPrompt: 'x' }, /config\.systemPrompt \(node a\): is not known/],
  ['limits that are no object', { limits: 3 }, /config\.limits \(node a\): .* expected object/],
  [
    'an unknown limit',
    { limits: { maxTime: 1 } },
    /config\.limits\.maxTime \(node a\): is not known; there are maxTurns, /,
  ],
  ['a limit of no turns', { limits: { maxTurns: 0 } }, /config\.limits\.maxTurns \(node a\): .*>=1/],
  [
    'a limit that is no number',
    { limits: { maxCostUsd: '1' } },
    /config\.limits\.maxCostUsd \(node a\): .* expected number/,
  ],
  [
    'another verbosity',
    { reasoningVerbosity: 'loud' },
    /config\.reasoningVerbosity \(node a\): .*"summary"\|"full"\|"off"/,
  ],
  ['a group without a name', { agentSharing: 'shared:' }, /config\.agentSharing \(node a\): must be/],
  ['a temperature of 3', { temperature: 3 }, /config\.temperature \(node a\): .*<=2/],
  ['half a token', { maxTokens: 0.5 }, /config\.maxTokens \(node a\): .* expected int/],
  ['a model that is no text', { model: 4 }, /config\.model \(node a\): .* expected string/],
  ['a schema that does not compile', { outputSchema: { type: 'thing' } }, /config\.outputSchema \(node a\): /],
  ['a setting called as an object is built', { constructor: 1 }, /config\.constructor \(node a\): is not known/],
])('%s is refused when the workflow is registered', (_what, config, message) => {
  expect(registered('cairn.agent', config)).toThrow(message);
});

test('an agent node needs an agent, structured output an agent or a schema', () => {
  expect(registered('cairn.agent', {}, {})).toThrow(/nodes\[0]\.agent \(node a\): must name the agent/);
  expect(registered('core.ai.structuredOutput', {}, {})).toThrow(/config\.outputSchema \(node a\): it must say/);
  expect(registered('core.ai.structuredOutput', { outputSchema: {} }, {})).not.toThrow();
  expect(registered('core.ai.callPrompt', {}, {})).not.toThrow();
});

test('a channel on the agent is refused', () => {
  const definition = workflowOf({ a: { type: 'cairn.agent', agent } });
  const nodes = definition.nodes.map((node) => ({ ...node, agent: { ...agent, channel: 'stable' } }));
  expect(() => checkDefinition({ ...definition, nodes }, nodeTypes)).toThrow(/agent deployments/);
});

describe('a prompt node without an agent', () => {
  const run = (config: JsonObject, configurable: JsonObject = {}) =>
    new RunScript(workflowOf({ ai: { type: 'core.ai.callPrompt', config } }), { nodeTypes, configurable });
  const callId = 'ai#0.0/m0';

  test('is an agent of the host, with the prompts of its configuration and no tools', () => {
    const script = run({ systemPrompt: 'Be brief.', prompt: 'Say hello.' });
    const call = script.call('ai');
    expect(drivenInput(script.state, script.workflow, call)).toMatchObject({
      agentId: 'host:prompt:ai',
      system: 'Be brief.',
      messages: [{ role: 'user', text: 'Say hello.' }],
      tools: [],
    });
    expect(script.last('agent.promptResolved')).toEqual({
      nodeId: 'ai',
      kind: 'system',
      agentId: 'host:prompt:ai',
      resolved: 'prompt:host-prompt-ai',
      chain: [
        { layer: 'node', source: 'prompt:host-prompt-ai', applied: true },
        { layer: 'agent-intrinsic', applied: false, reason: 'superseded by node' },
        { layer: 'workflow-defaults', applied: false, reason: 'superseded by node' },
        { layer: 'host-defaults', applied: false, reason: 'superseded by node' },
      ],
    });
    script.lands(callId, { outcome: { turn: turnOf({ text: 'Hello.' }) as JsonObject } });
    expect(script.last('node.completed')).toMatchObject({ outputs: { content: 'Hello.', agentId: 'host:prompt:ai' } });
    expect(script.last('node.completed')).not.toHaveProperty('agent');
  });

  test('passes a mock provider on', () => {
    const mock = { id: 'stream-text', config: { tokens: ['a'] } };
    const script = run({ promptId: 'conformance.stream-text-noop', expectsStreaming: true }, { mockProvider: mock });
    expect(drivenInput(script.state, script.workflow, script.call('ai'))).toMatchObject({ mock, system: '' });
    expect(script.last('agent.promptResolved').resolved).toBeNull();
  });
});
