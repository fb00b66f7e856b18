import { row } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { RunScript, step, workflowOf } from '../../../../test/kit/run-script.ts';
import { stepInput } from '../../nodes/step-node.ts';
import type { OpenCall } from '../state.ts';

test.each(['pure', 'read', 'idempotent'] as const)(
  'a %s step without a recorded result is asked for again, as the same call',
  (safety) => {
    const run = new RunScript(workflowOf({ a: step(safety, { config: { n: 1 } }) }));
    run.crashes();
    expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0' }]);
    expect(run.last('cairn.step.requested')).toMatchObject({ callId: 'a#0', attempt: 2 });
    expect(stepInput(run.state, run.workflow, run.state.calls.get('a#0') as OpenCall)).toEqual({ n: 1 });
    run.returns('a', 'ok');
    expect(run.status).toBe('completed');
  },
);

test.each([
  ['a step', step('read')],
  ['a call of a driven node', { type: 'local.test.relay', config: { rounds: 1, width: 1, safety: 'read' } }],
])('%s under which ten holders in a row were lost is put to a human', (_, node) => {
  const run = new RunScript(workflowOf({ a: node }));
  for (let i = 0; i < 10; i++) run.crashes();
  expect(run.effects).toHaveLength(1);
  expect(run.all('interrupt.requested')).toHaveLength(0);
  run.crashes();
  expect(run.effects).toEqual([]);
  expect(run.status).toBe('waiting-input');
  run.answers('a', { action: 'retry' });
  expect(run.effects).toHaveLength(1);
  run.crashes();
  expect(run.all('interrupt.requested')).toHaveLength(1);
});

const interrupted = () => new RunScript(workflowOf({ a: step('write', { config: { n: 1 } }) })).crashes();

test('a write is not repeated: a human is asked, once', () => {
  const run = interrupted();
  expect(run.effects).toEqual([]);
  expect(run.all('cairn.step.requested')).toHaveLength(1);
  expect(run.last('interrupt.requested')).toMatchObject({
    kind: 'custom',
    data: {
      customKind: 'cairn.step.interrupted',
      payload: { callId: 'a#0', step: 'local.step.write', attempt: 1, inputs: {} },
    },
  });
  expect(run.status).toBe('waiting-input');
  run.crashes();
  expect(run.all('interrupt.requested')).toHaveLength(1);
});

test('the human may have it done again', () => {
  const run = interrupted().answers('a', { action: 'retry' });
  expect(run.last('cairn.step.requested')).toMatchObject({ callId: 'a#0', attempt: 2 });
  expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0' }]);
  expect(run.returns('a', 1).status).toBe('completed');
});

test('the human may give the result', () => {
  const run = interrupted().answers('a', { action: 'use', result: { paid: true } });
  expect(run.last('run.completed').outputs).toEqual({ paid: true });
  expect(run.state.calls).toEqual(new Map());
});

test('the human may give it up', () => {
  const run = interrupted().answers('a', { action: 'fail' });
  expect(run.last('run.failed').error).toMatchObject({ code: 'step_interrupted' });
});

test('a verdict that is none is refused', () => {
  const run = interrupted();
  expect(() => run.answers('a', { action: 'use' })).toThrow(/does not fit/);
  expect(() => run.answers('a', { action: 'maybe' })).toThrow(/does not fit/);
});

test('two interrupted writes are two questions with ids of their own', () => {
  const run = new RunScript(workflowOf({ a: step('write'), b: step('write') }, [])).crashes();
  const ids = run.all('interrupt.requested').map((payload) => payload.interruptId);
  expect(new Set(ids).size).toBe(2);
  expect(Object.keys(run.state.view.interrupts)).toEqual(ids);
});

test('a run that is being cancelled asks for nothing again', () => {
  const run = new RunScript(workflowOf({ a: step('read') }));
  run.write([row('cairn.cancel.requested', {})]);
  run.crashes();
  expect(run.effects).toEqual([]);
  expect(run.status).toBe('cancelled');
});
