/** What agents think without saying it: plans, reflections, observations, strategy; and who sees thoughts. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { answered, asks, facesOf, nodeStarted, type Said, started, working } from './fold-kit.kit.ts';

const nodeId = 'a';
const agentId = 'host:desk';
const agent = nodeStarted(nodeId, { typeId: 'cairn.agent', agent: { agentId } });
const thinks: Said = ['agent.reasoned', { nodeId, agentId, reasoning: '', verbosity: 'summary' }];
const asked = (more: JsonObject = {}): Said => [
  'cairn.model.requested',
  { nodeId, callId: 'm', attempt: 1, safety: 'idempotent', ...more },
];
const returned = (more: JsonObject): Said => ['cairn.model.returned', { nodeId, callId: 'm', attempt: 1, ...more }];
const calls = (...names: readonly string[]): Said =>
  returned({ turn: { text: '', toolCalls: names.map((name) => ({ id: name, name, input: {} })) } });
const begun = [started, working, agent];
const last = (...said: readonly Said[]) => facesOf(...said).at(-1);

test('several calls of one turn are a plan', () => {
  expect(last(...begun, thinks, calls('look', 'write'))).toMatchObject({
    kind: 'thought-stream',
    thoughtType: 'planning',
    verbosity: 'brief',
    content: 'Next: look, write.',
    agentId,
    index: 0,
  });
  expect(last(...begun, thinks, calls('look'))).toBeNull();
});

test('a repair and a failed attempt are reflected on, once', () => {
  const repair = asked({ repairs: true, note: 'It is no JSON.' });
  expect(last(...begun, thinks, repair)).toMatchObject({
    thoughtType: 'reflection',
    content: 'The result did not fit, so I give it once more. It is no JSON.',
  });
  const failed = returned({ error: { code: 'x', message: 'Overloaded.', class: 'overloaded', retryable: true } });
  const faces = facesOf(...begun, thinks, failed, asked({ attempt: 2 }), asked());
  expect(faces.slice(-2)).toMatchObject([{ thoughtType: 'reflection', content: 'I try again: Overloaded.' }, null]);
});

test('a tool that failed is an observation that names its call', () => {
  const error = { code: 'tool_failed', message: 'No such file.' };
  const back: Said = [
    'agent.toolReturned',
    { nodeId, agentId, toolName: 'read', callId: 'c1', error, status: 'error' },
  ];
  expect(last(...begun, thinks, back, asked())).toMatchObject({
    thoughtType: 'observation',
    content: 'read failed: No such file.',
    metadata: { relatedTo: 'c1' },
  });
});

test('the choice of a supervisor is a strategy that names its decision', () => {
  const boss = nodeStarted(nodeId, { typeId: 'core.orchestrator.supervisor', agent: { agentId } });
  const decision = { kind: 'next-worker', nextWorkerIds: ['kid'], confidence: 0.8 };
  const decided: Said = ['agent.decided', { nodeId, agentId, decision }];
  const faces = facesOf(started, working, boss, thinks, decided, [
    'runOrchestrator.decided',
    { nodeId, agentId, decision },
  ]);
  expect(faces.at(-1)).toMatchObject({
    thoughtType: 'strategy',
    content: 'Send kid.',
    index: 1,
    metadata: { confidence: 0.8, relatedTo: faces.at(-2)?.thoughtId },
  });
});

test('a run that records no reasoning derives no thoughts', () => {
  expect(last(...begun, calls('look', 'write'))).toBeNull();
  const off: Said = ['run.started', { workflowId: 'wf', configurable: { reasoningVerbosity: 'off' } }];
  expect(last(off, working, agent, thinks, calls('look', 'write'))).toBeNull();
});

test('private thoughts, and those below the floor of the host, are for operators', () => {
  const thought = (more: JsonObject = {}): Said => [
    'agent.reasoned',
    { nodeId, agentId, reasoning: 'hm', verbosity: 'summary', ...more },
  ];
  const run = (thoughtPolicy: JsonObject): Said => ['run.started', { workflowId: 'wf', thoughtPolicy }];
  const isPrivate = (...said: readonly Said[]) => last(...said)?.visibility === 'operator';
  expect(isPrivate(...begun, thought())).toBe(false);
  expect(isPrivate(...begun, thought({ visibility: 'operator' }))).toBe(true);
  expect(isPrivate(run({ visibility: 'operator' }), agent, thought())).toBe(true);
  const floor = [run({ minConfidence: 0.5 }), agent];
  expect(isPrivate(...floor, thought({ confidence: 0.4 }))).toBe(true);
  expect(isPrivate(...floor, thought({ confidence: 0.5 }))).toBe(false);
  expect(isPrivate(...floor, thought())).toBe(false);
  expect(isPrivate(...floor, ['agent.decided', { nodeId, agentId, decision: 1, confidence: 0.1 }])).toBe(true);
});

test('a task says once that a new holder goes on with its work, however many calls it repeats', () => {
  const again = (callId: string, gapMs = 0): Said => [
    'cairn.model.requested',
    { nodeId, callId, attempt: 2, safety: 'idempotent', recoveries: 1 },
    gapMs,
  ];
  const faces = facesOf(...begun, asked(), again('m', 50), again('n'), again('m', 50)).slice(4);
  const metadata = { reason: 'host_restarted', attempt: 2 };
  const restarted = { kind: 'task-status', status: 'working', agentId: 'host:desk', metadata };
  expect(faces).toEqual([restarted, null, restarted]);
});

test('the time at work leaves out what the task waited', () => {
  const [resolved, resumed] = answered(nodeId, 'i');
  const [requested, suspended] = asks(nodeId, 'i');
  if (!resolved || !resumed || !requested || !suspended) throw new Error('the kit changed');
  const faces = facesOf(started, working, agent, requested, suspended, resolved, resumed, ['run.completed', {}, 7]);
  expect(faces.at(-1)).toMatchObject({ metadata: { duration: 47, activeMs: 7 } });
});
