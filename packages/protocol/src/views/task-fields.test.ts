/** Fields of task events that hold across kinds: who acts, which code an error has, how calls and questions are marked. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { facesOf, nodeStarted, type Said, signedFacesOf, started, working } from './fold-kit.kit.ts';

const agentId = 'core.some.writer';
const begun: readonly Said[] = [started, working, nodeStarted('a', { typeId: 'cairn.agent', agent: { agentId } })];
const called = (callId: string, more: JsonObject = {}): Said => [
  'agent.toolCalled',
  { nodeId: 'a', agentId, toolName: 'openwop:time', callId, ...more },
];
const lastFace = (...said: readonly Said[]) => facesOf(...begun, ...said).at(-1);

test.each([
  ['model_call_failed', { class: 'rate_limited' }, 'llm_rate_limited'],
  ['model_call_failed', { class: 'timeout' }, 'llm_timeout'],
  ['model_call_failed', { class: 'bad_stream' }, 'llm_bad_output'],
  ['model_call_failed', { class: 'context_length' }, 'llm_context_overflow'],
  ['model_call_failed', { class: 'network' }, 'llm_unavailable'],
  ['model_refused', { class: 'content_filter' }, 'llm_content_filtered'],
  ['budget_exhausted', {}, 'budget_exceeded'],
  ['child_failed', {}, 'subtask_failed'],
  ['interrupt_timeout', {}, 'input_timeout'],
  ['run_timeout', {}, 'deadline_exceeded'],
])('a run that fails with %s %j shows the code of the task protocol, and keeps its own', (code, details, shown) => {
  expect(lastFace(['run.failed', { error: { code, message: 'm', details } }])).toMatchObject({
    metadata: { reason: shown },
    error: { code: shown, details: { ...details, code } },
  });
});

test('calls of one turn that run side by side say so, and a question says how urgent it is', () => {
  const turn = (count: number): Said => [
    'cairn.model.returned',
    { nodeId: 'a', callId: 'm', attempt: 1, turn: { toolCalls: Array.from({ length: count }, () => ({ name: 't' })) } },
  ];
  expect(lastFace(turn(2), called('c1'))).toMatchObject({ metadata: { concurrent: true } });
  expect(lastFace(turn(2), turn(1), called('c1'))?.metadata).not.toHaveProperty('concurrent');
  const asked = { nodeId: 'a', interruptId: 'i1', kind: 'clarification', key: 'k', data: {}, urgency: 'high' };
  expect(lastFace(['interrupt.requested', asked])).toMatchObject({ metadata: { urgency: 'high' } });
});

test.each([
  ['openwop:time', 'native', 'local'],
  ['client:pick', 'native', 'client'],
  ['mcp:beta/size', 'mcp', 'mcp'],
  ['a2a:desk', 'http', 'host:desk'],
])('a call of %s over %s is performed by %s', (toolName, transport, provider) => {
  expect(lastFace(called('c1', { toolName, transport }))).toMatchObject({ metadata: { provider } });
});

test('every event names who acts: the agent of its node or of its task, and else the host', () => {
  const signed = (...said: readonly Said[]) => signedFacesOf(...said).map((face) => [face?.kind, face?.agentId]);
  const forDesk: Said = ['run.started', { workflowId: 'wf', actsAs: { agentId: 'host:desk', model: 'm' } }];
  expect(signed(forDesk, working, nodeStarted('n'), ['run.cancelled', {}])).toEqual([
    ['task-created', 'host:desk'],
    ['task-status', 'host:desk'],
    ['tool-start', 'core.system'],
    ['task-status', 'host:desk'],
  ]);
  const end: Said = ['run.completed', {}];
  expect(signed(started, end)).toEqual([
    ['task-created', 'core.system'],
    ['task-complete', 'core.system'],
  ]);
});
