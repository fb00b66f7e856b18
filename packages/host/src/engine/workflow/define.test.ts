import { RetryableError, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptNodeTypes } from '../../../test/kit/run-script.ts';
import type { StepContext } from '../ports.ts';
import { defineStep } from './define-step.ts';
import { defineWorkflow, expression, fixed, outputOf, variable } from './define-workflow.ts';
import { checkDefinition } from './registration.ts';

const context: StepContext = {
  runId: 'run_1' as RunId,
  nodeId: 'a',
  callId: 'c',
  idempotencyKey: 'k',
  attempt: 1,
  signal: new AbortController().signal,
};

test('a step is a write unless it says otherwise', () => {
  const step = defineStep({ name: 'pay', run: async () => 1 });
  expect(step).toMatchObject({ typeId: 'local.step.pay', safety: 'write' });
  expect(defineStep({ name: 'look', safety: 'read', run: async () => 1 }).safety).toBe('read');
});

test('a step gets its input parsed, and the context', async () => {
  const input = z.object({ n: z.coerce.number() });
  const step = defineStep({ name: 'double', input, run: async ({ n }, { attempt }) => ({ n: n * 2, attempt }) });
  expect(await step.run({ n: '4' }, context)).toEqual({ n: 8, attempt: 1 });
});

test('an input that does not fit fails for good, and names what is wrong', async () => {
  const step = defineStep({ name: 's', input: z.object({ n: z.number() }), run: async () => 1 });
  await expect(step.run({ n: 'x' }, context)).rejects.toMatchObject({
    code: 'config_validation_failed',
    retryable: false,
  });
});

test('what a step throws is passed on as it is', async () => {
  const error = new RetryableError('service_unavailable', { message: 'busy' });
  const step = defineStep({ name: 's', run: () => Promise.reject(error) });
  await expect(step.run({}, context)).rejects.toBe(error);
});

test.each(['', 'has space', '-x', 'x'.repeat(101)])('%j cannot be the name of a step', (name) => {
  expect(() => defineStep({ name, run: async () => 1 })).toThrow(/cannot be the name/);
});

test('a workflow in code is plain data that can be registered', () => {
  const definition = defineWorkflow({
    id: 'order',
    version: '1.0.0',
    variables: { amount: { type: 'number', required: true } },
    nodes: {
      pay: { type: { typeId: 'local.step.write' }, inputs: { amount: variable('amount'), note: fixed('hi') } },
      gate: { type: 'core.approvalGate', inputs: { total: expression('variables.amount * 2') } },
      ship: { type: 'core.noop', inputs: { of: outputOf('pay') } },
    },
    edges: [
      { from: 'pay', to: 'gate' },
      { from: 'gate', to: 'ship', port: 'approved', when: 'variables.amount > 1', rule: 'none_failed' },
      { from: 'gate', to: 'ship', port: 'refined', rule: 'none_failed' },
    ],
  });
  expect(() => checkDefinition(definition, scriptNodeTypes)).not.toThrow();
  expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  expect(definition.edges.map((edge) => edge.id)).toEqual(['pay-gate', 'gate-ship', 'gate-ship-2']);
});

test.each([
  [
    'The step "pay" cannot be defined: it has no option "saftey".',
    () => defineStep({ name: 'pay', run: async () => 1, ...{ saftey: 'read' } }),
  ],
  [
    'The workflow "w" cannot be defined: it has no option "node".',
    () => defineWorkflow({ id: 'w', version: '1', nodes: {}, ...{ node: {} } }),
  ],
  [
    'The node "a" cannot be defined: it has no option "input".',
    () => defineWorkflow({ id: 'w', version: '1', nodes: { a: { type: 'core.noop', ...{ input: {} } } } }),
  ],
  [
    'The edge from "a" to "b" cannot be defined: it has no option "condition".',
    () =>
      defineWorkflow({
        id: 'w',
        version: '1',
        nodes: { a: { type: 'core.noop' }, b: { type: 'core.noop' } },
        edges: [{ from: 'a', to: 'b', ...{ condition: 'true' } }],
      }),
  ],
])('an unknown option is refused: %s', (message, define) => {
  expect(define).toThrow(expect.objectContaining({ code: 'config_invalid', message }));
});

test('nodes without edges follow each other in the order given', () => {
  const nodes = { a: { type: 'core.noop' }, b: { type: 'core.noop' } };
  const definition = defineWorkflow({ id: 'w', version: '1', nodes });
  expect(definition.edges).toEqual([{ id: 'a-b', sourceNodeId: 'a', targetNodeId: 'b' }]);
});

test('a definition that is none is refused', () => {
  expect(() => defineWorkflow({ id: 'Not An Id', version: '1', nodes: { a: { type: 'core.noop' } } })).toThrow(
    expect.objectContaining({ code: 'validation_error' }),
  );
});
