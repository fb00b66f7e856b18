import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { scriptNodeTypes, workflowOf } from '../../../test/kit/run-script.ts';
import { compileWorkflow } from '../workflow/workflow.ts';
import { startedDraft } from './start-run.ts';

const limits = { maxNodeExecutions: 100, maxRunDurationMs: null };
const variables: WorkflowDefinition['variables'] = [
  { name: 'who', type: 'string', required: true },
  { name: 'n', type: 'number', defaultValue: 1 },
];
const start = (inputs: JsonObject, more: Partial<WorkflowDefinition> = {}, configurable?: JsonObject) =>
  startedDraft({
    workflow: compileWorkflow(workflowOf({ a: 'core.noop' }, undefined, { variables, ...more }), 'h', scriptNodeTypes),
    request: { tenant: 't', principal: 'ada', inputs, options: configurable === undefined ? {} : { configurable } },
    limits,
  }).payload;

test('pins the definition, the owner, the limits and the defaults, and holds each input once', () => {
  expect(start({ who: 'x', extra: true })).toEqual({
    workflowId: 'w',
    workflowVersion: '1',
    definitionHash: 'h',
    engineVersion: '2',
    transport: 'rest',
    owner: { tenant: 't', principal: 'ada' },
    inputs: { who: 'x', extra: true },
    variables: { n: 1 },
    limits: { maxNodeExecutions: 100, timeoutMs: null },
    budget: { maxRuns: 1000 },
  });
});

test.each<[string, JsonObject]>([
  ['a required input that is missing', {}],
  ['a required input that is null', { who: null }],
  ['an input of another type', { who: 'x', n: '1' }],
  ['a list for an object', { who: [] }],
])('refuses %s', (_, inputs) => {
  expect(() => start(inputs)).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

test.each<[JsonObject]>([
  [{ recursionLimit: 0 }],
  [{ recursionLimit: 1.5 }],
  [{ runTimeoutMs: 0 }],
  [{ runTimeoutMs: 'x' }],
])('refuses configurable %j when the run is created', (configurable) => {
  expect(() => start({ who: 'x' }, {}, configurable)).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

test('refuses configurable that breaks the schema of the workflow', () => {
  const configurableSchema = {
    type: 'object',
    additionalProperties: false,
    properties: { recursionLimit: { type: 'integer' } },
  };
  expect(() => start({ who: 'x' }, { configurableSchema }, { nope: 1 })).toThrow(/configurable/);
  expect(start({ who: 'x' }, { configurableSchema }, { recursionLimit: 5 }).limits).toMatchObject({
    maxNodeExecutions: 5,
  });
});

test('a refusal of thousands of options lists some, each in short', () => {
  const budget = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}${'x'.repeat(2_000)}`, 1]));
  expect(() => start({ who: 'x' }, {}, { budget })).toThrow(
    expect.objectContaining({
      code: 'validation_error',
      message: expect.stringMatching(/; and 4980 more\.$/),
      details: {
        workflowId: 'w',
        problems: expect.toSatisfy((all: string[]) => all.length === 100 && all.join().length < 110_000),
      },
    }),
  );
});

test('no run gets more than the host allows', () => {
  expect(start({ who: 'x' }, {}, { recursionLimit: 10_000 }).limits).toMatchObject({ maxNodeExecutions: 100 });
});

test('an input cannot stand in for a channel', () => {
  const channels = { c: { reducer: 'append' } };
  expect(() => start({ who: 'x', c: 1 }, { channels })).toThrow(/channel/);
});

test('channels that only nodes declare are pinned with their time to live', () => {
  const nodes = workflowOf({
    a: { type: 'core.channelWrite', config: { channelName: 'e', reducer: 'append', ttlMs: 200, value: 1 } },
  }).nodes;
  expect(start({ who: 'x' }, { nodes }).channels).toEqual({ e: { reducer: 'append', ttlMs: 200 } });
});
