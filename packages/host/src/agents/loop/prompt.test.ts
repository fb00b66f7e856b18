/** The prompts of an agent node: what the model gets of them, and what the log tells. */
import { expect, test } from 'vitest';
import { PromptRegistry } from '../prompts/prompt-registry.ts';
import { AgentScript, agentId, sha256 } from './agent-script.kit.ts';

const prompts = new PromptRegistry([
  { templateId: 'calm', version: '1.0.0', kind: 'system', text: 'Be calm.' },
  {
    templateId: 'ask',
    version: '1.0.0',
    kind: 'user',
    text: 'Look into {{message}}',
    variables: [{ name: 'message', type: 'string', required: true }],
  },
]);
const refs = { systemPromptRef: 'prompt:calm@1.0.0', userPromptRef: 'prompt:ask@1.0.0' };

test('templates that a node refers to are what the model gets; the log has references and hashes', () => {
  const run = new AgentScript({ config: refs, loopOptions: { prompts } });
  expect(run.request).toMatchObject({ system: 'Be calm.', messages: [{ role: 'user', text: 'Look into Do it.' }] });
  expect(run.story().slice(0, 6)).toEqual([
    'agent.invocation.started',
    'agent.promptResolved',
    'prompt.composed',
    'agent.promptResolved',
    'prompt.composed',
    'cairn.model.requested',
  ]);
  expect(run.all('prompt.composed')[0]).toEqual({
    nodeId: 'a',
    refs: ['prompt:calm@1.0.0'],
    kind: 'system-only',
    hash: `sha256:${sha256('Be calm.', 'hex')}`,
    variableHashes: {},
  });
});

test('a colleague has its own words, not the templates of the node', () => {
  const run = new AgentScript({
    config: refs,
    loopOptions: { prompts },
    agents: { lead: { manifest: { toolAllowlist: ['openwop:handoff'] } }, help: {} },
  });
  run.calls(['openwop_handoff', { agentId: agentId('help'), message: 'Take over.' }]);
  expect(run.request).toMatchObject({ system: 'You are help.', messages: [{ role: 'user', text: 'Take over.' }] });
  expect(run.all('prompt.composed')).toHaveLength(2);
});

test('a template that is not there, or a slot that stays empty, fails the node before a model is asked', () => {
  const gone = new AgentScript({ config: { systemPromptRef: 'prompt:gone' }, loopOptions: { prompts } });
  expect(gone.last('node.failed')).toMatchObject({ error: { code: 'config_validation_failed' } });
  const empty = new AgentScript({ config: refs, inputs: {}, loopOptions: { prompts } });
  expect(empty.last('node.failed')).toMatchObject({ error: { code: 'prompt_variable_unresolved' } });
  for (const run of [gone, empty]) expect(run.all('cairn.model.requested')).toEqual([]);
});
