import type { JsonObject, WorkflowNode } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';

const only = (type: string, config: JsonObject = {}, inputs: JsonObject = {}, more = {}) =>
  new RunScript(workflowOf({ a: { type, config } }, undefined, more), { inputs });

test('core.conditional goes one way', () => {
  const go = (n: number) =>
    new RunScript(
      workflowOf(
        { c: { type: 'core.conditional', config: { expression: 'inputs.n > 1' } }, t: 'core.noop', f: 'core.noop' },
        [
          { from: 'c', to: 't', port: 'true' },
          { from: 'c', to: 'f', port: 'false' },
        ],
      ),
      { inputs: { n } },
    );
  expect(go(2).started()).toEqual(['c', 't']);
  expect(go(1).started()).toEqual(['c', 'f']);
  expect(go(1).state.outputs.c).toEqual({ result: false });
});

test('core.conditional tests what came to it with a condition', () => {
  const condition = { type: 'equals', left: 'n', right: 2 };
  const run = new RunScript(
    workflowOf({ s: 'core.start', c: { type: 'core.conditional', config: { condition } }, t: 'core.noop' }, [
      { from: 's', to: 'c' },
      { from: 'c', to: 't', port: 'true' },
    ]),
    { inputs: { n: 2 } },
  );
  expect(run.started()).toContain('t');
});

test('core.merge collects the outputs of those that led to it', () => {
  const run = new RunScript(
    workflowOf({ s: 'core.start', p: 'core.parallel', x: 'core.identity', y: 'core.identity', m: 'core.merge' }, [
      { from: 's', to: 'p' },
      { from: 'p', to: 'x' },
      { from: 'p', to: 'y', when: 'false' },
      { from: 'x', to: 'm', rule: 'none_failed' },
      { from: 'y', to: 'm', rule: 'none_failed' },
    ]),
    { inputs: { n: 1 } },
  );
  expect(run.last('run.completed').outputs).toEqual({ inputs: { x: { n: 1 } } });
});

test('core.setVariable records what a variable was and is', () => {
  const run = only('core.setVariable', { variableName: 'v', expression: 'variables.v + 1' }, { v: 1 });
  expect(run.last('variable.changed')).toEqual({ name: 'v', previous: 1, next: 2, nodeId: 'a' });
  expect(run.state.view.variables).toEqual({ v: 2 });
});

test('core.setVariable leaves out a large previous value, and says its size', () => {
  const set = (v: string) => only('core.setVariable', { name: 'v', value: 'new' }, { v }).last('variable.changed');
  expect(set('x'.repeat(1_022))).toMatchObject({ previous: 'x'.repeat(1_022) });
  expect(set('x'.repeat(1_023))).toEqual({ name: 'v', previousBytes: 1_025, next: 'new', nodeId: 'a' });
});

test('core.getVariable puts out a variable', () => {
  const variables = [{ name: 'v', type: 'array' }];
  const run = only('core.getVariable', { name: 'v' }, { v: [1] }, { variables });
  expect(run.last('run.completed').outputs).toEqual({ value: [1] });
});

test('core.channelWrite writes by the reducer the channel declares', () => {
  const channels = { log: { reducer: 'append' } };
  const run = only('core.channelWrite', { channelName: 'log', reducer: 'replace', value: 1 }, {}, { channels });
  expect(run.last('channel.written')).toMatchObject({ channel: 'log', value: 1, reducer: 'append', nodeId: 'a' });
  expect(run.state.view.channels.log?.value).toEqual([1]);
});

test('core.channelWrite fails where the channel does not let it write', () => {
  const write = { channelName: 'log', value: 'x' };
  const denied = only(
    'core.channelWrite',
    write,
    {},
    { channels: { log: { reducer: 'append', access: { writers: ['b'] } } } },
  );
  expect(denied.last('run.failed').error).toMatchObject({ code: 'channel_access_denied' });
  const wrong = only(
    'core.channelWrite',
    write,
    {},
    { channels: { log: { reducer: 'replace', schema: { type: 'number' } } } },
  );
  expect(wrong.last('run.failed').error).toMatchObject({ code: 'config_validation_failed' });
});

test('only the readers of a channel see it, also under a name that is computed', () => {
  const read = { value: { type: 'expression' as const, expression: 'size(channels[inputs.name])' } };
  const reading = (readers: readonly string[], name: string) => {
    const channels = { log: { reducer: 'append' as const, default: [1], access: { readers: [...readers] } } };
    const definition = workflowOf({ a: { type: 'core.identity', inputs: read } }, undefined, { channels });
    return new RunScript(definition, { inputs: { name } });
  };
  expect(reading(['a'], 'log').status).toBe('completed');
  expect(reading(['core.identity'], 'log').status).toBe('completed');
  expect(reading(['b'], 'log').last('run.failed').error).toMatchObject({ code: 'expression_failed' });
  expect(reading([], 'log').last('run.failed').error).toMatchObject({ code: 'expression_failed' });
});

test('core.delay waits as long as it is told, by any of its names', () => {
  for (const name of ['delayMs', 'ms', 'durationMs']) {
    const run = only('core.delay', { [name]: 100 });
    run.passes(99);
    expect(run.status).toBe('running');
    run.passes(1);
    expect(run.status).toBe('completed');
    expect(run.last('node.completed').durationMs).toBe(100);
  }
  expect(only('core.delay', { ms: 0 }).status).toBe('completed');
});

test('core.delay fails for a length that is none', () => {
  const inputs = { delayMs: { type: 'variable' as const, variableName: 'd' } };
  const variables = [{ name: 'd', type: 'string' as const }];
  const definition = workflowOf({ a: { type: 'core.delay', inputs } }, undefined, { variables });
  const run = new RunScript(definition, { inputs: { d: 'long' } });
  expect(run.last('run.failed').error).toMatchObject({ code: 'config_validation_failed' });
});

test('a loop over something that is no list fails', () => {
  const run = only('core.loop', { items: 'inputs.n' }, { n: 3 });
  expect(run.last('run.failed').error).toMatchObject({ code: 'expression_failed' });
});

test('core.fail fails with its own code and message, and with the default ones for empty texts', () => {
  const own = { code: 'broken', message: 'It is.', retryable: false };
  expect(only('core.fail', own).last('node.failed').error).toMatchObject(own);
  const empty = only('core.fail', { code: '', message: '' }).last('node.failed');
  expect(empty.error).toMatchObject({ code: 'conformance_test_failure', message: 'Intentional conformance failure' });
});

test('a gate is about its own inputs; without any, about what its edges bring', () => {
  const gateAfter = (inputs: WorkflowNode['inputs']) =>
    new RunScript(
      workflowOf(
        { s: 'core.start', g: { type: 'core.approvalGate', config: { title: 'Pay?' }, inputs } },
        [{ from: 's', to: 'g' }],
        { variables: [{ name: 'order', type: 'number' }] },
      ),
      { inputs: { order: 4711, note: 'fragile' } },
    ).last('interrupt.requested');
  const own = gateAfter({ order: { type: 'variable', variableName: 'order' } });
  expect(own.data).toHaveProperty('artifactData', { order: 4711 });
  expect(gateAfter({}).data).toHaveProperty('artifactData', { order: 4711, note: 'fragile' });
});
