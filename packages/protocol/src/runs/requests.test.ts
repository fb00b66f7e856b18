import { expect, test } from 'vitest';
import { agentRef } from '../agents/agent-ref.ts';
import { eventId, parseRunId, runId } from '../ids.ts';
import { interruptPayload } from '../interrupts/interrupts.ts';
import { jsonEquals } from '../json.ts';
import { createRun } from './create-run.ts';
import { answerInterrupt, bulkCancelRuns, cancelRun, MAX_BULK_CANCEL, pauseRun, resumeRun } from './requests.ts';

const accepts = (body: unknown): boolean => createRun.safeParse(body).success;

test('a run is created from a workflow or from an agent', () => {
  expect(accepts({ workflowId: 'wf' })).toBe(true);
  expect(accepts({ agentId: 'core.a.b' })).toBe(true);
  expect(accepts({})).toBe(false);
  expect(accepts({ workflowId: '' })).toBe(false);
});

test('an undeclared property of a create request is refused', () => {
  expect(accepts({ workflowId: 'wf', input: {} })).toBe(false);
});

test.each([
  ['recursionLimit', 0],
  ['recursionLimit', 1.5],
  ['recursionLimit', '5'],
  ['runTimeoutMs', 0],
  ['maxLoopIterations', 0],
  ['temperature', 3],
  ['escalationThreshold', 1.1],
  ['reasoningVerbosity', 'loud'],
  ['mockProvider', { id: 'x', extra: 1 }],
])('the reserved key %s of configurable refuses %j', (key, value) => {
  expect(accepts({ workflowId: 'wf', configurable: { [key]: value } })).toBe(false);
});

test('keys of configurable that the wire does not reserve pass through', () => {
  const body = { workflowId: 'wf', configurable: { recursionLimit: 5, 'acme.depth': [1] } };
  expect(createRun.parse(body)).toEqual(body);
});

test('tags are bounded in number and length', () => {
  const tagged = (tags: unknown) => accepts({ workflowId: 'wf', tags });
  expect(tagged(Array.from({ length: 100 }, () => 'x'.repeat(256)))).toBe(true);
  expect(tagged(Array.from({ length: 101 }, () => 'x'))).toBe(false);
  expect(tagged(['x'.repeat(257)])).toBe(false);
  expect(tagged([''])).toBe(false);
});

test('an answer must hold a value, and null is one', () => {
  expect(answerInterrupt.safeParse({ resumeValue: null }).success).toBe(true);
  expect(answerInterrupt.safeParse({}).success).toBe(false);
  expect(answerInterrupt.safeParse({ resumeValue: 1, more: 2 }).success).toBe(false);
});

test('a cancellation may say why', () => {
  expect(cancelRun.safeParse({}).success).toBe(true);
  expect(cancelRun.safeParse({ reason: 'enough' }).success).toBe(true);
  expect(cancelRun.safeParse({ why: 'enough' }).success).toBe(false);
});

test('a pause may name its policy and its reason, a resume only its reason', () => {
  for (const body of [{}, { reason: 'r' }, { drainPolicy: 'immediate' }, { drainPolicy: 'drain-current-node' }]) {
    expect(pauseRun.safeParse(body).success).toBe(true);
  }
  for (const body of [{ drainPolicy: 'later' }, { drainPolicy: null }, { policy: 'immediate' }, { reason: 1 }]) {
    expect(pauseRun.safeParse(body).success).toBe(false);
  }
  expect(resumeRun.safeParse({ reason: 'r' }).success).toBe(true);
  expect(resumeRun.safeParse({ drainPolicy: 'immediate' }).success).toBe(false);
});

test('one request cancels at least one run, at most the cap, each named by a text of an id', () => {
  const ids = (length: number) => Array.from({ length }, (_, i) => `run_${i}`);
  expect(bulkCancelRuns.safeParse({ runIds: ids(MAX_BULK_CANCEL), reason: 'r' }).success).toBe(true);
  for (const runIds of [[], ids(MAX_BULK_CANCEL + 1), [7], [''], ['x'.repeat(129)], 'run_1', undefined]) {
    expect(bulkCancelRuns.safeParse({ runIds }).success).toBe(false);
  }
  expect(bulkCancelRuns.safeParse({ runIds: ids(1), force: true }).success).toBe(false);
});

test('the data of an interrupt must match its own kind', () => {
  const data = { questions: [{ id: 'q', question: 'Which?' }] };
  expect(interruptPayload.safeParse({ kind: 'clarification', key: 'k', data }).success).toBe(true);
  expect(interruptPayload.safeParse({ kind: 'custom', key: 'k', data }).success).toBe(false);
});

test('an agent is pinned by version or by channel, not by both', () => {
  expect(agentRef.safeParse({ agentId: 'core.a.b', version: '1' }).success).toBe(true);
  expect(agentRef.safeParse({ agentId: 'core.a.b', version: '1', channel: 'beta' }).success).toBe(false);
});

test('ids of runs are recognised, and event ids fit the wire', () => {
  const run = runId('x'.repeat(40));
  expect(parseRunId(run)).toBe(run);
  for (const text of ['', '../x', 'a b', `r${'x'.repeat(96)}`]) expect(parseRunId(text)).toBeNull();
  expect(eventId(runId('a'), 7)).toBe('run_a:7');
});

test('JSON values are equal by value, whatever the order of keys', () => {
  expect(jsonEquals({ a: [1, { b: null }], c: 2 }, { c: 2, a: [1, { b: null }] })).toBe(true);
  for (const [a, b] of [
    [[1], { 0: 1 }],
    [{ a: 1 }, { b: 1 }],
    [[1], [1, 2]],
    [null, {}],
    [{}, { toString: 1 }],
  ] as const) {
    expect(jsonEquals(a, b)).toBe(false);
  }
});
