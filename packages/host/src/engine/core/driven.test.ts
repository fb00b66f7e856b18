import type { JsonObject } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript, workflowOf } from '../../../test/kit/run-script.ts';
import type { StepSafety } from '../ports.ts';
import { drivenResult } from './driven.ts';
import type { OpenCall } from './state.ts';

const relay = (
  config: { rounds?: number; width?: number; safety?: StepSafety; restMs?: number; asks?: boolean } = {},
) =>
  new RunScript(
    workflowOf({
      a: { type: 'local.test.relay', config: { rounds: 2, width: 1, safety: 'read', ...config } },
      b: 'core.noop',
    }),
  );

const open = (run: RunScript) => [...run.state.calls.keys()];
const requests = (run: RunScript) => run.all('agent.toolCalled').map(({ callId, attempt }) => `${callId} ${attempt}`);

test('a driven node makes its calls one after the other, and completes with what came of them', () => {
  const run = relay();
  expect(open(run)).toEqual(['a#0.0/0.0']);
  expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0.0/0.0' }]);
  run.lands('a#0.0/0.0', { outcome: 1 });
  expect(open(run)).toEqual(['a#0.0/1.0']);
  run.lands('a#0.0/1.0', { error: { code: 'node_execution_failed', message: 'no' } });
  expect(run.status).toBe('completed');
  expect(run.last('node.completed').nodeId).toBe('b');
  expect(run.state).toMatchObject({ inner: {}, calls: {}, awaitedCalls: 0, pending: [] });
});

test('calls side by side are all over before the next round', () => {
  const run = relay({ width: 3 });
  run.lands('a#0.0/0.1', { outcome: 1 }).lands('a#0.0/0.0', { outcome: 0 });
  expect(run.all('agent.toolCalled')).toHaveLength(3);
  run.lands('a#0.0/0.2', { outcome: 2 });
  expect(open(run)).toEqual(['a#0.0/1.0', 'a#0.0/1.1', 'a#0.0/1.2']);
});

test('the result of a call is caused by the row that asked for it', () => {
  const run = relay();
  const { requestedSeq } = run.state.calls.get('a#0.0/0.0') as OpenCall;
  run.lands('a#0.0/0.0', { outcome: 1 });
  expect(run.events.find(({ type }) => type === 'agent.toolReturned')?.cause).toBe(requestedSeq);
});

test('a result of an attempt that is no longer awaited is dropped', () => {
  const run = relay().crashes();
  const late = { callId: 'a#0.0/0.0', attempt: 1, result: { outcome: 1 }, now: run.now };
  expect(drivenResult(run.state, run.workflow, late)).toEqual([]);
});

describe('another holder', () => {
  test.each(['pure', 'read', 'idempotent'] as const)(
    'asks again for a %s call, and for nothing that is over',
    (safety) => {
      const run = relay({ width: 2, safety }).lands('a#0.0/0.0', { outcome: 'kept' }).crashes();
      expect(requests(run)).toEqual(['a#0.0/0.0 1', 'a#0.0/0.1 1', 'a#0.0/0.1 2']);
      expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0.0/0.1' }]);
      run.lands('a#0.0/0.1', { outcome: 1 });
      expect(run.all('agent.toolReturned')).toHaveLength(2);
    },
  );

  test('asks a human about each write that was open, and the others go on', () => {
    const run = relay({ width: 2, safety: 'write', rounds: 1 }).crashes();
    const [first, second] = run.all('interrupt.requested') as [JsonObject, JsonObject];
    expect(first.data).toMatchObject({ payload: { callId: 'a#0.0/0.0', inputs: { callId: 'a#0.0/0.0' } } });
    expect(second.data).toMatchObject({ payload: { callId: 'a#0.0/0.1' } });
    expect(run.status).toBe('waiting-input');
    expect(() => run.answers('a', { action: 'fail' })).toThrow(/waits for 2 answers: int_0_a, int_1_a/);
    run.answersTo(first.interruptId as string, { action: 'use', result: 'by hand' });
    expect(run.status).toBe('waiting-input');
    run.answersTo(second.interruptId as string, { action: 'fail' });
    expect(run.status).toBe('completed');
    expect(run.all('node.completed')[0]?.outputs).toEqual({
      results: ['a#0.0/0.0: "by hand"', expect.stringContaining('step_interrupted')],
    });
  });

  test('has a write done again when the human says so', () => {
    const run = relay({ safety: 'write', rounds: 1 }).crashes();
    run.answers('a', { action: 'retry' });
    expect(requests(run)).toEqual(['a#0.0/0.0 1', 'a#0.0/0.0 2']);
    expect(run.lands('a#0.0/0.0', { outcome: 1 }).status).toBe('completed');
  });
});

describe('a pause', () => {
  test('at once cuts the calls short; they are asked for again, and what is over is not', () => {
    const run = relay({ width: 2 }).lands('a#0.0/0.0', { outcome: 1 }).pauses('immediate');
    expect(run.status).toBe('paused');
    expect(open(run)).toEqual([]);
    run.effects = [];
    run.resumes();
    expect(requests(run)).toEqual(['a#0.0/0.0 1', 'a#0.0/0.1 1', 'a#0.0/0.1 2']);
    expect(run.effects).toEqual([{ kind: 'step', callId: 'a#0.0/0.1' }]);
    expect(run.started()).toEqual(['a']);
  });

  test('that is survived by a crash is resumed the same', () => {
    const run = relay().pauses('immediate').crashes().resumes();
    expect(requests(run)).toEqual(['a#0.0/0.0 1', 'a#0.0/0.0 2']);
  });

  test('that drains lets the node finish, and no other starts', () => {
    const run = relay().pauses().lands('a#0.0/0.0', { outcome: 1 });
    expect(run.status).toBe('running');
    run.lands('a#0.0/1.0', { outcome: 1 });
    expect(run.status).toBe('paused');
    expect(run.started()).toEqual(['a']);
  });
});

test('a rest between rounds survives a crash', () => {
  const run = relay({ restMs: 500 }).lands('a#0.0/0.0', { outcome: 1 });
  expect(open(run)).toEqual([]);
  run.crashes().passes(499);
  expect(open(run)).toEqual([]);
  run.passes(1);
  expect(open(run)).toEqual(['a#0.0/1.0']);
});

test('a question between rounds is asked once, and its answer leads on', () => {
  const run = relay({ asks: true }).lands('a#0.0/0.0', { outcome: 1 });
  expect(run.status).toBe('waiting-input');
  run.crashes().answers('a', 'yes');
  expect(run.all('interrupt.requested')).toHaveLength(1);
  expect(open(run)).toEqual(['a#0.0/1.0']);
});

test('a cancelled run leaves no call open', () => {
  const run = relay({ width: 3 }).cancels();
  expect(run.status).toBe('cancelled');
  expect(run.state).toMatchObject({ inner: {}, calls: {}, awaitedCalls: 0 });
});

test("a limit that a driven node breaches is its own, not the run's", () => {
  const run = relay();
  run.fact('cap.breached', { kind: 'loop-iterations', limit: 1, observed: 2, nodeId: 'a' }, 'a');
  expect(run.state.failure).toBeNull();
  run.fact('cap.breached', { kind: 'loop-iterations', limit: 1, observed: 2 });
  expect(run.status).toBe('failed');
});

test('another attempt of the node begins from nothing', () => {
  const definition = workflowOf({
    a: {
      type: 'local.test.relay',
      config: { rounds: 2, width: 1, safety: 'read' },
      settings: { timeoutMs: 100, retry: { maxRetries: 1 } },
    },
  });
  const run = new RunScript(definition).lands('a#0.0/0.0', { outcome: 1 });
  run.passes(100);
  expect(run.last('node.retried')).toMatchObject({ nodeId: 'a', attempt: 1 });
  expect(run.state).toMatchObject({ inner: {}, calls: {}, awaitedCalls: 0 });
  run.passes(60_000);
  expect(run.all('node.started')).toHaveLength(2);
});

test('a node whose time is up while it writes is not tried again', () => {
  const definition = workflowOf({
    a: {
      type: 'local.test.relay',
      config: { rounds: 1, width: 1, safety: 'write' },
      settings: { timeoutMs: 100, retry: { maxRetries: 1 } },
    },
  });
  const run = new RunScript(definition).passes(100);
  expect(run.last('run.failed').error).toMatchObject({ code: 'node_timeout', retryable: false });
});
