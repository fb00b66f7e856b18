import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { eventTypes } from './events/catalogue.ts';
import { payloadSchema, shapeNames, shapeSchema } from './json-schemas.ts';

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
const compile = (schema: object) => ajv.compile(schema);

test.each(shapeNames)('the schema of %s compiles and refuses what is no object', (name) => {
  expect(compile(shapeSchema(name))('text')).toBe(false);
});

test.each(eventTypes)('the schema of a %s payload compiles', (type) => {
  expect(compile(payloadSchema(type))(null)).toBe(false);
});

test('the schemas are as closed and as open as the shapes', () => {
  expect(compile(shapeSchema('ErrorEnvelope'))({ error: 'e', message: 'm', more: 1 })).toBe(false);
  expect(compile(shapeSchema('RunSnapshot'))({ runId: 'r', workflowId: 'w', status: 'running', more: 1 })).toBe(true);
});
