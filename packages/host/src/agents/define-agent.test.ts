import { expect, test } from 'vitest';
import { z } from 'zod';
import { type AgentOptions, defineAgent } from './define-agent.ts';

const least = { id: 'host:desk', persona: 'Desk', instructions: 'Sort what comes in.' };

test('what is left out of an agent is what a manifest without it means', () => {
  expect(defineAgent(least)).toEqual({
    agentId: 'host:desk',
    definition: {
      manifest: {
        agentId: 'host:desk',
        persona: 'Desk',
        modelClass: 'general',
        systemPrompt: 'Sort what comes in.',
        toolAllowlist: [],
      },
      systemPrompt: 'Sort what comes in.',
    },
  });
});

test('all that is said of an agent is in its definition', () => {
  const rehearsal = { turns: [[{ say: 'Done.' }]] };
  const { definition } = defineAgent({
    ...least,
    id: 'vendor.acme.desk.triage',
    modelClass: 'classification',
    label: 'The desk',
    description: 'Sorts.',
    tools: ['openwop:time', { id: 'acme:look-up' }],
    task: z.object({ subject: z.string() }),
    result: { type: 'object', required: ['queue'] },
    confidenceThreshold: 0.9,
    memory: { longTerm: true },
    rehearsal,
  });
  expect(definition).toMatchObject({
    manifest: {
      agentId: 'vendor.acme.desk.triage',
      modelClass: 'classification',
      label: 'The desk',
      description: 'Sorts.',
      toolAllowlist: ['openwop:time', 'acme:look-up'],
      confidence: { defaultThreshold: 0.9 },
      memoryShape: { longTerm: true },
    },
    taskSchema: { type: 'object', properties: { subject: { type: 'string' } }, required: ['subject'] },
    returnSchema: { type: 'object', required: ['queue'] },
    rehearsal,
  });
});

const wrong: readonly [string, Partial<AgentOptions>, string][] = [
  ['an id without a tier', { id: 'desk' }, 'id must be host:<name>, or <tier>'],
  ['an id that is kept for agents of peers', { id: 'host:a2a:peer:agent' }, 'id must be host:<name>'],
  ['an id of two words', { id: 'core.system' }, 'id must be host:<name>'],
  ['an id without a name', { id: 'host:' }, 'id must be host:<name>'],
  ['an id that is too long', { id: `host:${'x'.repeat(252)}` }, 'id must be host:<name>'],
  ['no persona', { persona: '' }, 'persona'],
  ['no instructions', { instructions: '' }, 'instructions'],
  ['an unknown model class', { modelClass: 'genius' as 'general' }, 'modelClass'],
  ['a threshold above 1', { confidenceThreshold: 1.1 }, 'confidenceThreshold'],
  ['a schema that is none', { result: { type: 'nothing' } }, 'result is not a schema that can be checked'],
  ['a schema that no JSON Schema can say', { task: z.bigint() }, 'task is not a schema that can be checked'],
  ['a rehearsal that is no script', { rehearsal: { turns: [[{ sing: 'la' }]] } }, 'rehearsal is not a script'],
];

test('an unknown option is refused, with the nearest known one, however the object was made', () => {
  const typo = { ...least, toolz: ['openwop:time'] };
  expect(() => defineAgent(typo)).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      message: 'The agent "host:desk" cannot be defined: it has no option "toolz".',
      hint: 'Did you mean tools?',
    }),
  );
  const far = { ...least, systemPromptRef: 'a.md' };
  expect(() => defineAgent(far)).toThrow(expect.objectContaining({ hint: expect.stringContaining('instructions') }));
});

test('a rehearsal that calls nearly one of the tools is refused, and one that calls another tool is not', () => {
  const calling = (tool: string) => () =>
    defineAgent({ ...least, tools: ['acme:quote'], rehearsal: { turns: [[{ call: { tool, input: {} } }]] } });
  expect(calling('acme:qoute')).toThrow('rehearsal calls acme:qoute; did you mean acme:quote?');
  expect(calling('acme:quote')).not.toThrow();
  expect(calling('openwop:fs.write')).not.toThrow();
});

test.each(wrong)('%s is refused', (_, fields, message) => {
  const define = () => defineAgent({ ...least, ...fields });
  expect(define).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) }),
  );
});
