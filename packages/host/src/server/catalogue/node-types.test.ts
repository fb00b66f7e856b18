import type { JsonObject, NodeTypeDescriptor } from '@cairn/protocol';
import { nodeTypeList } from '@cairn/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { defineStep } from '../../engine/workflow/define-step.ts';
import { keys, served } from '../served.kit.ts';

const charge = defineStep({ name: 'charge', safety: 'idempotent', run: async () => null });

const compiled = (schema: JsonObject) => new Ajv2020({ strict: false }).compile(schema);

async function listed() {
  const host = await served({ steps: [charge] });
  const { status, body } = await host.ask('GET', '/v1/node-types');
  expect(status).toBe(200);
  return { host, types: nodeTypeList.parse(body).nodeTypes as readonly NodeTypeDescriptor[] };
}

test('every node type is listed once, by id, with a schema that compiles', async () => {
  const { types } = await listed();
  const ids = types.map(({ typeId }) => typeId);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toEqual(expect.arrayContaining(['core.delay', 'core.subWorkflow', 'local.step.charge']));
  for (const { configSchema } of types) expect(() => compiled(configSchema)).not.toThrow();
});

test('a step is listed with its safety', async () => {
  const { types } = await listed();
  expect(types.find(({ typeId }) => typeId === 'local.step.charge')).toEqual({
    typeId: 'local.step.charge',
    configSchema: { type: 'object', properties: {}, additionalProperties: {} },
    safety: 'idempotent',
  });
});

test('what a schema says is what registration takes', async () => {
  const { host, types } = await listed();
  const schema = types.find(({ typeId }) => typeId === 'core.delay')?.configSchema ?? {};
  const register = async (config: JsonObject) => {
    const node = { id: 'wait', typeId: 'core.delay', name: 'wait', position: { x: 0, y: 0 }, config, inputs: {} };
    const body = { id: 'w', name: 'w', version: '1', nodes: [node], edges: [], triggers: [], variables: [] };
    return host.ask('POST', '/v1/workflows', { key: keys.auditor, body: { ...body, metadata: {}, settings: {} } });
  };
  expect(compiled(schema)({ delayMs: 5 })).toBe(true);
  expect((await register({ delayMs: 5 })).status).toBe(201);
  expect(compiled(schema)({ delayMs: 'long' })).toBe(false);
  const refused = await register({ delayMs: 'long' });
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({
    error: 'validation_error',
    details: {
      problems: ['nodes[0].config.delayMs (node wait): Invalid input: expected number, received string; it is "long"'],
    },
  });
});

test('the API description has the schemas as components, and names no function of the host', async () => {
  const { host } = await listed();
  const { body, text } = await host.ask('GET', '/v1/openapi.json', { key: null });
  const { schemas } = body.components as { readonly schemas: Readonly<Record<string, JsonObject>> };
  expect(schemas.CoreDelayConfig).toMatchObject({ type: 'object', properties: { delayMs: { type: 'number' } } });
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['CoreConversationGateConfig', 'CoreInterruptConfig']));
  expect(text).not.toContain('charge');
});
