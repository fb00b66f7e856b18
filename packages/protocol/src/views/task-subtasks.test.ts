import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { answered, asks, facesOf, nodeStarted, type Said, started, viewAfter, working } from './fold-kit.kit.ts';

const child = 'run_some.0';
const begun: readonly Said[] = [started, working, nodeStarted('send', { typeId: 'core.dispatch' })];
const began = (workerId: string): Said => [
  'core.workflowChain.event',
  { nodeId: 'send', phase: 'dispatch.began', workerId, parentRunId: 'run_some' },
];
const requested = (childRunId: string, more: JsonObject = {}): Said => [
  'cairn.step.requested',
  { nodeId: 'send', callId: `c${childRunId}`, attempt: 1, childRunId, step: 'cairn.child', safety: 'read', ...more },
];
const dispatched = (childRunId: string): Said => [
  'node.dispatched',
  { nodeId: 'send', childRunId, childWorkflowId: 'desk', childStatus: 'running' },
];
const ended = (childRunId: string, more: JsonObject = { outcome: { status: 'completed' } }): Said => [
  'cairn.step.returned',
  { nodeId: 'send', callId: childRunId, attempt: 1, childRunId, ...more },
];
const waiting = (...ids: readonly string[]): JsonObject => ({
  kind: 'task-status',
  status: 'waiting-subtask',
  metadata: { blockedBy: ids[0] ?? '', pending: ids.map((id) => ({ type: 'subtask', id })) },
});
const atWork = { kind: 'task-status', status: 'working' };

test('a child run is a subtask from its request on, and its parent waits from its start to its end', () => {
  expect(facesOf(...begun, began('desk'), requested(child), dispatched(child), ended(child)).slice(4)).toEqual([
    { kind: 'subtask-created', subtaskId: child, prompt: 'Run the workflow desk.', toolCallId: 'send#0' },
    waiting(child),
    atWork,
  ]);
});

test('a subtask that is asked for again is announced once, and one of a sub-workflow names its node', () => {
  const sub = nodeStarted('send', { typeId: 'core.subWorkflow' });
  expect(facesOf(started, working, sub, requested(child), requested(child, { attempt: 2 })).slice(3)).toEqual([
    { kind: 'subtask-created', subtaskId: child, prompt: 'Run the workflow of the node send.', toolCallId: 'send#0' },
    null,
  ]);
});

test('a parent waits until its last child has ended', () => {
  const other = 'run_some.1';
  const faces = facesOf(
    ...begun,
    requested(child),
    requested(other),
    dispatched(child),
    dispatched(other),
    ended(child),
    ended(other),
  );
  expect(faces.slice(5)).toEqual([waiting(child), null, null, atWork]);
});

test('a child that ended before its start was recorded keeps nobody waiting', () => {
  expect(facesOf(...begun, requested(child), ended(child), dispatched(child)).slice(4)).toEqual([null, null]);
});

test('a child that never started is an error of the subtask', () => {
  const error = { code: 'unknown_child_workflow', message: 'There is no workflow nobody.', retryable: false };
  expect(facesOf(...begun, requested(child), ended(child, { error })).at(-1)).toEqual({
    kind: 'error',
    code: 'subtask_failed',
    message: error.message,
    retryable: false,
    scope: 'subtask',
    refId: child,
    details: { code: error.code },
  });
});

test('a question comes before a subtask, and lists it among what the task waits for', () => {
  const gate: readonly Said[] = [nodeStarted('gate'), ...asks('gate', 'i1')];
  const faces = facesOf(...begun, requested(child), dispatched(child), ...gate, ...answered('gate', 'i1'));
  expect(faces[7]).toEqual({
    kind: 'task-status',
    status: 'waiting-input',
    metadata: {
      blockedBy: 'user',
      pending: [
        { type: 'input', id: 'i1' },
        { type: 'subtask', id: child },
      ],
    },
  });
  expect(faces.at(-1)).toEqual(waiting(child));
});

test('a node that has ended waits for no child, and neither does a run', () => {
  const left = [...begun, requested(child), dispatched(child)];
  const failed: Said = ['node.failed', { nodeId: 'send', error: { code: 'c', message: 'm' } }];
  expect(viewAfter(...left).subtasks).toEqual({ [child]: 'send' });
  expect(viewAfter(...left, failed).subtasks).toEqual({});
  expect(viewAfter(...left, ['run.cancelled', {}]).subtasks).toEqual({});
  expect(facesOf(...left, failed, ['run.paused']).at(-1)).toEqual({ ...atWork, metadata: { reason: 'paused' } });
});

test('a branch waits for the child that took the place of the first', () => {
  const forked: Said = ['cairn.run.forked', { mode: 'branch', children: { [child]: 'run_other.0' } }];
  expect(viewAfter(...begun, requested(child), dispatched(child), forked).subtasks).toEqual({ 'run_other.0': 'send' });
});

test('a step that starts no child run shows nothing', () => {
  const step: JsonObject = { nodeId: 'send', callId: 'c', attempt: 1 };
  const faces = facesOf(
    ...begun,
    ['cairn.step.requested', { ...step, step: 's', safety: 'read' }],
    ['cairn.step.returned', { ...step, error: { code: 'c', message: 'm' } }],
  );
  expect(faces.slice(3)).toEqual([null, null]);
});

test('a question that is left to the user says so', () => {
  expect(facesOf(started, ['cairn.input.forwarded', { inputId: 'i1' }])[1]).toEqual({
    kind: 'input-forwarded',
    inputId: 'i1',
    metadata: { forwardedTo: 'user' },
  });
});

test('a task begins with its agent and model, and ends with its artifacts', () => {
  const agents = { 'host:a': { hash: 'h', ref: { agentId: 'host:a' } } };
  const first = (more: JsonObject) => facesOf(['run.started', { workflowId: 'w', ...more }])[0]?.metadata;
  expect(first({ agents, actsAs: { agentId: 'host:a', model: 'small' } })).toEqual({
    agentId: 'host:a',
    model: 'small',
  });
  expect(first({ agents })).toEqual({ agentId: 'host:a' });
  expect(first({ agents: { ...agents, 'host:b': agents['host:a'] } })).toBeUndefined();
  const made = (artifactId: string): Said => ['artifact.created', { artifactId, artifactType: 'data', version: '1' }];
  const faces = facesOf(started, made('a1'), made('a2'), made('a1'), ['run.completed', {}]);
  expect(faces.at(-1)).toMatchObject({ kind: 'task-complete', artifacts: ['a1', 'a2'] });
});
