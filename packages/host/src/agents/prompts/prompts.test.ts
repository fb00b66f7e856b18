/** Prompt templates: which one applies, what comes of it, and what the log is told. */
import { createHash } from 'node:crypto';
import { eventPayloads, type JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fields } from '../../../test/kit/json-fields.ts';
import { costBudget } from '../../engine/values/cost-budget.ts';
import { composePrompt } from './compose-prompt.ts';
import { nodePrompts } from './node-prompts.ts';
import { type LayerPrompt, promptRefFields, referredPrompts, resolvePrompt } from './prompt-chain.ts';
import { PromptRegistry } from './prompt-registry.ts';
import { type PromptTemplate, parsePromptRef, refText } from './prompt-template.ts';

const sha256 = (text: string, encoding: 'hex' | 'base64url'): string =>
  createHash('sha256').update(text).digest(encoding);
const hashOf = (text: string): string => `sha256:${sha256(text, 'hex')}`;

const template = (text: string, fields: Partial<PromptTemplate> = {}): PromptTemplate => ({
  templateId: 'writer',
  version: '1.0.0',
  kind: 'system',
  text,
  ...fields,
});
const place = (inputs: JsonObject = {}, variables: JsonObject = {}) =>
  ({
    node: { id: 'n' },
    inputs,
    runId: 'run_x',
    visit: 0,
    state: { view: { variables } },
    expressionBudget: costBudget(500_000),
  }) as never;
const composed = (made: PromptTemplate, inputs?: JsonObject, ref = { templateId: 'writer' }) =>
  composePrompt(made, ref, place(inputs, { tone: 'dry' }), sha256);

test.each([
  ['prompt:writer', { templateId: 'writer' }, 'prompt:writer'],
  ['prompt:a.b-c@1.2.3-rc.1', { templateId: 'a.b-c', version: '1.2.3-rc.1' }, 'prompt:a.b-c@1.2.3-rc.1'],
])('%s is a reference', (text, ref, again) => {
  expect(parsePromptRef(text)).toEqual(ref);
  expect(refText(ref)).toBe(again);
});

test.each(['writer', 'prompt:', 'prompt:Writer', 'prompt:w@1', 7, null, [], { templateId: 'W' }, { version: '1.0.0' }])(
  '%j is no reference',
  (value) => {
    expect(parsePromptRef(value as never)).toBeNull();
  },
);

test('without a version the newest counts, releases before what led to them', () => {
  const versions = ['1.2.0', '1.10.0', '2.0.0-rc.1', '1.9.9'].map((version) => template(version, { version }));
  const registry = new PromptRegistry(versions);
  expect(registry.find({ templateId: 'writer' }).version).toBe('2.0.0-rc.1');
  expect(registry.find({ templateId: 'writer', version: '1.2.0' }).text).toBe('1.2.0');
  const released = new PromptRegistry([...versions, template('', { version: '2.0.0' })]);
  expect(released.find({ templateId: 'writer' }).version).toBe('2.0.0');
});

test('a template that is not there is named with what is', () => {
  const registry = new PromptRegistry([template('x')]);
  expect(() => registry.find({ templateId: 'writer', version: '3.0.0' })).toThrow(
    'There is no prompt template prompt:writer@3.0.0; there are the versions 1.0.0.',
  );
  expect(() => registry.find({ templateId: 'constructor' })).toThrow('There is no prompt template prompt:constructor.');
});

test.each([
  ['another kind', { ...template('x'), kind: 'tool' }, 'kind'],
  ['a field too many', { ...template('x'), secret: 1 }, 'its root'],
  [
    'a slot filled from secrets',
    { ...template('x'), variables: [{ name: 'k', type: 'string', required: true, source: 'secret' }] },
    'variables.0.source',
  ],
  ['text that is too long', template('x'.repeat(65_537)), 'text'],
  ['no template', null, 'its root'],
])('a registry refuses %s, and says where', (_, value, at) => {
  expect(() => new PromptRegistry([value])).toThrow(`is wrong at ${at}`);
});

test('a registry refuses the same version twice', () => {
  expect(() => new PromptRegistry([template('x'), template('y')])).toThrow(
    /two prompt templates writer of version 1.0.0/,
  );
});

test('slots are filled from inputs, variables and the place of the node, each once', () => {
  const made = template('{{who}} / {{ tone }} / {{runId}} / {{who}} / {{list}}', {
    variables: [
      { name: 'tone', type: 'string', required: true, source: 'variable' },
      { name: 'runId', type: 'string', required: true, source: 'context' },
    ],
  });
  const { text, payload } = composed(made, { who: 'Ada', list: [1, 2] });
  expect(text).toBe('Ada / dry / run_x / Ada / [1,2]');
  expect(payload).toEqual({
    nodeId: 'n',
    refs: ['prompt:writer@1.0.0'],
    kind: 'system-only',
    hash: hashOf(text),
    variableHashes: { who: hashOf('Ada'), tone: hashOf('dry'), runId: hashOf('run_x'), list: hashOf('[1,2]') },
  });
  expect(eventPayloads['prompt.composed'].safeParse(payload).success).toBe(true);
  expect(JSON.stringify(payload)).not.toContain('Ada');
});

test('what fills a slot is not looked through for slots, and $ in it means nothing', () => {
  expect(composed(template('{{a}}|{{b}}'), { a: '{{b}} $& $1', b: 'secret' }).text).toBe('{{b}} $& $1|secret');
});

test('an empty slot that may be empty is its default or nothing', () => {
  const variables = [{ name: 'a', type: 'string', required: false, defaultValue: 'x' }] as PromptTemplate['variables'];
  expect(composed(template('[{{a}}][{{b}}][{{constructor}}]', { variables })).text).toBe('[x][][]');
});

test('a slot that must be filled fails the node by name, also when the text does not show it', () => {
  const variables = [{ name: 'topic', type: 'string', required: true }] as PromptTemplate['variables'];
  for (const text of ['{{topic}}', 'nothing']) {
    expect(() => composed(template(text, { variables }))).toThrow(
      expect.objectContaining({
        code: 'prompt_variable_unresolved',
        details: expect.objectContaining({ variable: 'topic' }),
      }),
    );
  }
});

test('values of the reference come first', () => {
  const ref = { templateId: 'writer', variableOverrides: { who: 'Bob' } };
  expect(composed(template('{{who}}'), { who: 'Ada' }, ref).text).toBe('Bob');
});

test('the strongest place that has a prompt gives it, and every place is in the record', () => {
  const sources: Record<string, LayerPrompt> = {
    'agent-intrinsic': { text: 'secret words', whose: 'agent:core.a.b' },
    'host-defaults': { ref: { templateId: 'house' } },
  };
  const { source, payload } = resolvePrompt({ nodeId: 'n', kind: 'system', agentId: 'core.a.b', sources });
  expect(source).toBe(sources['agent-intrinsic']);
  expect(payload.resolved).toBe('agent:core.a.b');
  expect(payload.chain.map(({ layer, applied }) => [layer, applied])).toEqual([
    ['node', false],
    ['agent-intrinsic', true],
    ['workflow-defaults', false],
    ['host-defaults', false],
  ]);
  expect(payload.chain.at(-1)).toMatchObject({
    source: 'prompt:house',
    reason: 'superseded by agent-intrinsic',
  });
  expect(JSON.stringify(payload)).not.toContain('secret words');
  expect(eventPayloads['agent.promptResolved'].safeParse(payload).success).toBe(true);
});

test('no place with a prompt resolves to none, which is recorded too', () => {
  const { source, payload } = resolvePrompt({ nodeId: 'n', kind: 'user', sources: {} });
  expect([source, payload.resolved, payload.chain.some(({ applied }) => applied)]).toEqual([null, null, false]);
});

test('a node refers to one template of each kind and to several examples; its workflow gives defaults', () => {
  const config = { systemPromptRef: 'prompt:a', fewShotPromptRefs: ['prompt:b', 'prompt:c'] };
  const definition = { defaults: { promptRefs: { system: 'prompt:z', user: 'prompt:y' } } };
  const at = { config, compiled: { definition } } as never;
  expect(referredPrompts(at, 'system')).toEqual([
    { node: { ref: { templateId: 'a' } }, 'workflow-defaults': { ref: { templateId: 'z' } } },
  ]);
  expect(referredPrompts(at, 'user')).toEqual([{ 'workflow-defaults': { ref: { templateId: 'y' } } }]);
  expect(referredPrompts(at, 'few-shot')).toHaveLength(2);
  expect(referredPrompts(at, 'schema-hint')).toEqual([{}]);
});

test('references that are none are problems of the node', () => {
  const places = (config: object) =>
    z
      .object(promptRefFields)
      .safeParse(config)
      .error?.issues.map(({ path }) => path.join('.')) ?? [];
  expect(places({ systemPromptRef: 'prompt:a' })).toEqual([]);
  expect(places({ systemPromptRef: 'a', fewShotPromptRefs: 'prompt:b' })).toEqual([
    'systemPromptRef',
    'fewShotPromptRefs',
  ]);
  expect(places({ fewShotPromptRefs: ['prompt:b', 7] })).toEqual(['fewShotPromptRefs.1']);
});

const options = { prompts: new PromptRegistry([]), sha256 };
const own = { layer: 'agent-intrinsic' as const, text: 'You are Ada.', whose: 'prompt:ada', agentId: 'core.a.ada' };
const nodeWith = (config: JsonObject, promptRefs?: JsonObject) =>
  ({
    node: { id: 'n' },
    config,
    compiled: { definition: { ...(promptRefs && { defaults: { promptRefs } }) } },
    inputs: { topic: 'stones' },
    state: { view: { variables: {} } },
    runId: 'run_x',
    visit: 0,
    expressionBudget: costBudget(500_000),
  }) as never;

test('an agent without references has its own words, and only the system prompt is resolved', () => {
  const { system, user, examples, rows } = nodePrompts(nodeWith({}), own, options);
  expect([system, user, examples]).toEqual(['You are Ada.', null, []]);
  expect(rows.map(({ type, payload }) => [type, fields(payload).kind])).toEqual([['agent.promptResolved', 'system']]);
});

test('what a node refers to comes before the words of its agent; hints and examples come beside', () => {
  const prompts = new PromptRegistry([
    template('Be a writer.'),
    template('Write about {{topic}}.', { templateId: 'ask', kind: 'user' }),
    template('Like this.', { templateId: 'one', kind: 'few-shot' }),
    template('Or this.', { templateId: 'two', kind: 'few-shot' }),
    template('As JSON.', { templateId: 'hint', kind: 'schema-hint' }),
  ]);
  const context = nodeWith(
    {
      systemPromptRef: 'prompt:writer',
      fewShotPromptRefs: ['prompt:one', 'prompt:two'],
      schemaHintPromptRef: 'prompt:hint',
    },
    { user: 'prompt:ask@1.0.0' },
  );
  const { rows, ...said } = nodePrompts(context, own, { prompts, sha256 });
  expect(said).toEqual({
    system: 'Be a writer.\n\nAs JSON.',
    user: 'Write about stones.',
    examples: ['Like this.', 'Or this.'],
  });
  const pairs = ['system', 'user', 'few-shot', 'few-shot', 'schema-hint'].flatMap((kind) => [kind, 'composed']);
  expect(rows.map(({ type, payload }) => (type === 'prompt.composed' ? 'composed' : fields(payload).kind))).toEqual(
    pairs,
  );
  expect(rows[0]?.payload).toMatchObject({ agentId: 'core.a.ada', resolved: 'prompt:writer' });
  for (const words of ['Ada.', 'stones', 'writer.', 'JSON']) expect(JSON.stringify(rows)).not.toContain(words);
});

test('a text of a megabyte fits into a prompt, and into no prompt a hundred times', () => {
  const text = 'x'.repeat(1_000_000);
  expect(composed(template('{{tone}}: {{doc}}'), { doc: text }).text).toHaveLength(1_000_002);
  expect(() => composed(template('{{doc}}'.repeat(100)), { doc: text })).toThrow(/node n are too many or too large/);
});

test('thousands of references of one node fail it', () => {
  const few = (count: number) => nodeWith({ fewShotPromptRefs: Array.from({ length: count }, () => 'prompt:one') });
  const prompts = new PromptRegistry([template('Like this.', { templateId: 'one', kind: 'few-shot' })]);
  expect(nodePrompts(few(100), own, { prompts, sha256 }).examples).toHaveLength(100);
  expect(() => nodePrompts(few(4_900), own, { prompts, sha256 })).toThrow(/too many or too large/);
});

test('a reference to a template that is not there fails the node', () => {
  expect(() => nodePrompts(nodeWith({ systemPromptRef: 'prompt:gone' }), own, options)).toThrow(/prompt:gone/);
});
