/** What the published conformance suite of MCP expects a server to have: workflows as tools, prompts and resources. */
import { isJsonObject, type JsonObject } from '@cairn/protocol';
import { defineWorkflow } from '../agents/define-workflow.ts';
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';
import type { McpPrompts, McpResources } from '../server/host-extension.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

/** A workflow whose result is this content. */
const answering = (id: string, content: string | readonly object[]) =>
  defineWorkflow({
    id,
    version: '1',
    description: `Conformance: ${id}.`,
    nodes: { answer: { type: 'core.identity', inputs: { content: { type: 'static', value: content as never } } } },
  });

const question = (schema: object, id = 'form') => ({
  type: 'core.clarificationGate' as const,
  config: { questions: [{ id, question: 'Please answer.', schema: schema as never }] },
});

/** A workflow that asks one question. */
const asking = (id: string, schema: object, variables = {}, questionId = 'form') =>
  defineWorkflow({
    id,
    version: '1',
    description: `Conformance: ${id}.`,
    variables,
    nodes: { ask: question(schema, questionId) },
  });

const text = { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] };

const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

const defaults = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const three = (name: string) => [1, 2, 3].map((n) => `${name}${n}`);
const titled = (name: string) => three(name).map((value) => ({ const: value, title: `The ${value}` }));

const choices = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: three('option') },
    titledSingle: { type: 'string', oneOf: titled('value') },
    legacyEnum: { type: 'string', enum: three('opt'), enumNames: three('Option ') },
    untitledMulti: { type: 'array', items: { type: 'string', enum: three('option') }, minItems: 1, maxItems: 3 },
    titledMulti: { type: 'array', items: { anyOf: titled('value') }, minItems: 1, maxItems: 3 },
  },
};

const anything = { type: 'object', properties: { ok: { type: 'boolean' } } };

/** The host registers them when its program gives them to it; they are no fixtures of other suites. */
export const mcpWorkflows = [
  answering('test_simple_text', 'This is a simple text response for testing.'),
  answering('test_image_content', [image]),
  answering('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]),
  answering('test_embedded_resource', [resource('test://embedded-resource', 'text/plain', 'This is embedded.')]),
  answering('test_multiple_content_types', [
    { type: 'text', text: 'Several contents:' },
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data"}'),
  ]),
  defineWorkflow({
    id: 'test_error_handling',
    version: '1',
    description: 'Conformance: fails.',
    nodes: { fail: { type: 'core.fail' } },
  }),
  asking('test_elicitation', text, { message: { type: 'string' } }),
  asking('test_elicitation_sep1034_defaults', defaults),
  asking('test_elicitation_sep1330_enums', choices),
  asking('test_input_required_result_elicitation', name, {}, 'user_name'),
  asking('test_input_required_result_request_state', anything),
  asking('test_input_required_result_tampered_state', anything),
  defineWorkflow({
    id: 'test_input_required_result_multi_round',
    version: '1',
    description: 'Conformance: asks twice.',
    nodes: { first: question(anything), second: question(anything) },
    edges: [{ from: 'first', to: 'second' }],
  }),
  defineWorkflow({
    id: 'test_tool_with_progress',
    version: '1',
    description: 'Conformance: works in steps.',
    nodes: { one: { type: 'core.noop' }, two: { type: 'core.noop' }, three: { type: 'core.noop' } },
    edges: [
      { from: 'one', to: 'two' },
      { from: 'two', to: 'three' },
    ],
  }),
];

const prompt = (templateId: string, body: string, names: readonly string[] = []): PromptTemplate => ({
  templateId,
  version: '1.0.0',
  kind: 'user',
  description: `Conformance: ${templateId}.`,
  text: body,
  variables: names.map((name) => ({ name, type: 'string', required: true, description: `The argument ${name}.` })),
});

export const promptTemplates: readonly PromptTemplate[] = [
  prompt('test_simple_prompt', 'This is a simple prompt for testing.'),
  prompt('test_prompt_with_arguments', "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'", ['arg1', 'arg2']),
  prompt('test_input_required_result_prompt', 'The context is {{context}}.', ['context']),
];

const said = (content: object) => ({ role: 'user', content });

/** Prompts with other content than text. */
const withContent: Readonly<Record<string, (given: JsonObject) => readonly object[]>> = {
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    resource(typeof resourceUri === 'string' ? resourceUri : '', 'text/plain', 'This is embedded.'),
    { type: 'text', text: 'Please process the resource above.' },
  ],
  test_prompt_with_image: () => [image, { type: 'text', text: 'Please analyze the image above.' }],
};

export const mcpPrompts: McpPrompts = {
  listed: [
    {
      name: 'test_prompt_with_embedded_resource',
      description: 'Conformance: a resource.',
      arguments: [{ name: 'resourceUri', required: true }],
    },
    { name: 'test_prompt_with_image', description: 'Conformance: an image.' },
  ],
  get(promptName, given) {
    const contents = Object.hasOwn(withContent, promptName) ? withContent[promptName] : undefined;
    if (contents === undefined) return null;
    return { messages: contents(isJsonObject(given) ? given : {}).map(said) };
  },
};

const statics = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain', text: 'This is a static text.' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png', blob: PNG },
];

const templated = /^test:\/\/template\/([A-Za-z0-9]{1,64})\/data$/;

export const mcpResources: McpResources = {
  listed: statics.map(({ uri, name, mimeType }) => ({ uri, name, mimeType })),
  templates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  read(uri) {
    const [, id] = templated.exec(uri) ?? [];
    if (id !== undefined) return { uri, mimeType: 'application/json', text: JSON.stringify({ id }) };
    const found = statics.find((one) => one.uri === uri);
    if (found === undefined) return null;
    const { name: _, ...content } = found;
    return content;
  },
};
