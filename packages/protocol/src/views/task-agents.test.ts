import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { answered, facesOf, nodeStarted, type Said, started, viewAfter, working } from './fold-kit.kit.ts';
import { runSnapshot } from './snapshot.ts';

const agentId = 'core.some.writer';
const writer = { agentId, name: 'Writer', version: '1.0.0' };
const editor = { agentId: 'core.some.editor', name: 'Editor' };
const begun: readonly Said[] = [started, working, nodeStarted('a', { typeId: 'cairn.agent', agent: writer })];
const chunk = (text: string, more: JsonObject = {}): Said => [
  'output.chunk',
  { nodeId: 'a', runId: 'r', chunk: text, isLast: false, channel: 'a/m0', ...more },
];
const called = (callId: string, more: JsonObject = {}): Said => [
  'agent.toolCalled',
  { nodeId: 'a', agentId, toolName: 'openwop:time', callId, inputs: { zone: 'UTC' }, attempt: 1, ...more },
];
const returned = (callId: string, more: JsonObject): Said => [
  'agent.toolReturned',
  { nodeId: 'a', agentId, toolName: 'openwop:time', callId, ...more },
];
const lastFace = (...said: readonly Said[]) => facesOf(...begun, ...said).at(-1);

test('an agent node is the task at work, not a call; where no row said so before, its start does', () => {
  expect(facesOf(...begun, ['node.completed', { nodeId: 'a', outputs: {} }]).slice(2)).toEqual([null, null]);
  const foreign = facesOf(started, nodeStarted('a', { typeId: 'core.ai.callPrompt', agent: writer }));
  expect(foreign[1]).toEqual({ kind: 'task-status', status: 'working', agentId });
  expect(lastFace(['node.failed', { nodeId: 'a', error: { code: 'c', message: 'm' } }])).toBeNull();
});

test('a node that only carries an agent is a call like any other', () => {
  expect(facesOf(started, working, nodeStarted('n', { agent: writer }))[2]).toMatchObject({ kind: 'tool-start' });
});

test('a task of a conversation begins with the words of its user', () => {
  expect(facesOf(['run.started', { workflowId: 'w', inputs: { message: 'Hello' } }])[0]).toEqual({
    kind: 'task-created',
    initiator: 'user',
    metadata: { message: { role: 'user', content: 'Hello' } },
  });
});

test('text shows piece by piece, and its last row has the whole of it', () => {
  const faces = facesOf(
    ...begun,
    chunk('Hel'),
    chunk('lo'),
    chunk('', { isLast: true, meta: { finishReason: 'stop' } }),
  );
  expect(faces.slice(3)).toEqual([
    { kind: 'content-delta', delta: 'Hel', index: 0, contentId: 'a/m0', agentId },
    { kind: 'content-delta', delta: 'lo', index: 1, contentId: 'a/m0', agentId },
    { kind: 'content-complete', content: 'Hello', contentId: 'a/m0', finishReason: 'stop', agentId },
  ]);
});

test('a block without a channel is named after its first row, and the next one differs', () => {
  const bare = (text: string, isLast = false): Said => [
    'output.chunk',
    { nodeId: 'n', runId: 'r', chunk: text, isLast },
  ];
  const faces = facesOf(started, working, nodeStarted('n'), bare('a'), bare('b', true), bare('c'), bare('', true));
  expect(faces.slice(3).map((face) => face?.contentId)).toEqual(['n:3', 'n:3', 'n:5', 'n:5']);
  expect(faces.slice(3).map((face) => face?.content ?? face?.delta)).toEqual(['a', 'ab', 'c', 'c']);
});

test('text of two channels of a node stays apart', () => {
  const other = (text: string, isLast = false) => chunk(text, { channel: 'b', isLast });
  const faces = facesOf(...begun, chunk('A'), other('B'), chunk('a'), other('', true), chunk('', { isLast: true }));
  expect(faces.slice(3).map((face) => face?.content ?? face?.index)).toEqual([0, 0, 1, 'B', 'Aa']);
});

test('what a dead attempt of a model said is not part of what the next one says', () => {
  const again: Said = ['cairn.model.requested', { nodeId: 'a', callId: 'a/m0', attempt: 2, safety: 'read' }];
  const faces = facesOf(...begun, chunk('Hal'), again, chunk('Hello'), chunk('', { isLast: true }));
  expect(faces[5]).toMatchObject({ index: 0 });
  expect(faces[6]).toMatchObject({ content: 'Hello' });
});

test('text longer than a row can show is cut in its last row, which says so', () => {
  const long = 'x'.repeat(400_000);
  const faces = facesOf(...begun, chunk(long), chunk(long), chunk('', { isLast: true }));
  expect(faces[5]).toMatchObject({ content: long, metadata: { truncated: true } });
});

test('a thought shows once it is whole, with its place among the thoughts of the task', () => {
  const faces = facesOf(
    ...begun,
    ['agent.reasoning.delta', { nodeId: 'a', agentId, delta: 'Hm', sequence: 0 }],
    ['agent.reasoned', { nodeId: 'a', agentId, reasoning: 'Hmm', verbosity: 'summary' }],
    ['agent.reasoned', { nodeId: 'a', agentId, reasoning: '', verbosity: 'off' }],
    ['agent.reasoned', { nodeId: 'a', agentId, reasoning: '', verbosity: 'summary' }],
    ['agent.reasoned', { nodeId: 'a', agentId, reasoning: 'All of it', verbosity: 'full' }],
  );
  const thought = { kind: 'thought-stream', thoughtType: 'reasoning', agentId };
  expect(faces.slice(3)).toEqual([
    null,
    { ...thought, thoughtId: 'run_some:4', verbosity: 'normal', content: 'Hmm', index: 0 },
    null,
    null,
    { ...thought, thoughtId: 'run_some:7', verbosity: 'detailed', content: 'All of it', index: 1 },
  ]);
});

test('a decision is a thought that can be acted on', () => {
  expect(lastFace(['agent.decided', { nodeId: 'a', agentId, decision: { to: 'b' }, confidence: 0.4 }])).toEqual({
    kind: 'thought-stream',
    thoughtId: 'run_some:3',
    thoughtType: 'decision',
    verbosity: 'normal',
    content: '{"to":"b"}',
    index: 0,
    agentId,
    metadata: { confidence: 0.4, actionable: true },
  });
});

test('a plain answer shows once, as content: its decision is no thought, and takes no number of one', () => {
  const answer: readonly Said[] = [chunk('Yes.'), chunk('', { isLast: true, meta: { finishReason: 'stop' } })];
  const decided: Said = ['agent.decided', { nodeId: 'a', agentId, decision: 'Yes.' }];
  const thought: Said = ['agent.reasoned', { nodeId: 'a', agentId, reasoning: 'Done.', verbosity: 'summary' }];
  const faces = facesOf(...begun, ...answer, decided, thought);
  expect(faces[5]).toBeNull();
  expect(faces[6]).toMatchObject({ kind: 'thought-stream', index: 0 });
});

test('a decision that somebody acts on shows beside the text that stated it', () => {
  const text = (finishReason: string): Said => chunk('Yes.', { isLast: true, meta: { finishReason } });
  const decided = (more: JsonObject = {}): Said => [
    'agent.decided',
    { nodeId: 'a', agentId, decision: 'Yes.', ...more },
  ];
  const shown = { kind: 'thought-stream', thoughtType: 'decision', index: 0 };
  expect(lastFace(text('stop'), decided({ confidence: 0.9 }))).toMatchObject(shown);
  expect(lastFace(text('stop'), decided({ invalidConfidence: 'very' }))).toMatchObject(shown);
  expect(lastFace(text('tool_calls'), decided())).toMatchObject(shown);
  const again: Said = ['cairn.model.requested', { nodeId: 'a', callId: 'a/m1', attempt: 1, safety: 'read' }];
  expect(lastFace(text('stop'), again, decided())).toMatchObject(shown);
  const supervisor = nodeStarted('a', { typeId: 'core.orchestrator.supervisor', agent: writer });
  expect(facesOf(started, working, supervisor, text('stop'), decided()).at(-1)).toMatchObject(shown);
});

test('a decision that is very long is cut in the thought, which says so', () => {
  const decision = { text: '"'.repeat(100_000) };
  const face = lastFace(['agent.decided', { nodeId: 'a', agentId, decision }]);
  expect(face).toMatchObject({ metadata: { actionable: true, truncated: true } });
  expect(String(face?.content)).toHaveLength(65_537);
});

test('a tool call starts, goes on and ends; asked for again it is still the same call', () => {
  const faces = facesOf(
    ...begun,
    called('c1'),
    ['cairn.tool.progress', { nodeId: 'a', callId: 'c1', progress: 0.5, message: 'half', step: 'copy', stepsTotal: 2 }],
    called('c1', { attempt: 2 }),
    returned('c1', { outcome: { now: 1 }, status: 'ok', durationMs: 4 }),
    ['cairn.tool.progress', { nodeId: 'a', callId: 'c1', progress: 1 }],
  );
  const call = { toolCallId: 'c1', toolName: 'openwop:time' };
  expect(faces.slice(3)).toEqual([
    {
      kind: 'tool-start',
      ...call,
      arguments: { zone: 'UTC' },
      agentId,
      metadata: { provider: 'local', cancelable: true },
    },
    {
      kind: 'tool-progress',
      toolCallId: 'c1',
      progress: 0.5,
      message: 'half',
      agentId,
      metadata: { step: 'copy', stepsTotal: 2 },
    },
    null,
    { kind: 'tool-complete', ...call, success: true, result: { now: 1 }, agentId, metadata: { duration: 4 } },
    null,
  ]);
});

test('a call that failed, or was refused after it was asked for, ends with the error as text and in full', () => {
  const error = { code: 'tool_failed', message: 'broken', retryable: false };
  expect(lastFace(called('c1'), returned('c1', { error, status: 'error' }))).toMatchObject({
    kind: 'tool-complete',
    success: false,
    error: 'broken',
    errorInfo: error,
  });
  const forbidden = { code: 'forbidden', message: 'not on the list', details: { scope: 'tool' } };
  expect(lastFace(called('c1'), returned('c1', { error: forbidden, status: 'forbidden' }))).toMatchObject({
    kind: 'tool-complete',
    success: false,
    errorInfo: {
      ...forbidden,
      code: 'tool_forbidden',
      details: { scope: 'tool', code: 'forbidden' },
      retryable: false,
    },
  });
});

test('a refusal without a call is an error of its own; a result without a call shows nothing', () => {
  const error = { code: 'rate_limited', message: 'later' };
  expect(lastFace(returned('c9', { error, status: 'rate_limited' }))).toEqual({
    kind: 'error',
    ...error,
    code: 'tool_unavailable',
    details: { code: 'rate_limited' },
    retryable: false,
    scope: 'tool',
    refId: 'c9',
    agentId,
  });
  expect(lastFace(returned('c9', { outcome: 1, status: 'ok' }))).toBeNull();
});

test('arguments that are no object are kept under one name', () => {
  expect(lastFace(called('c1', { inputs: 'not JSON' }))).toMatchObject({ arguments: { value: 'not JSON' } });
  expect(lastFace(called('c1', { inputs: null }))).toMatchObject({ arguments: {} });
});

test('what a call of a model used shows with the number of the call', () => {
  const used = { provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, cacheReadTokens: 2, nodeId: 'a' };
  expect(lastFace(['provider.usage', used], ['provider.usage', used])).toEqual({
    kind: 'llm-usage',
    model: 'm',
    inputTokens: 3,
    outputTokens: 4,
    totalTokens: 7,
    cacheReadTokens: 2,
    iteration: 2,
    agentId,
  });
});

test('a handoff is the task at work under another agent; work that comes back is a subtask', () => {
  const passed = { nodeId: 'a', fromAgentId: agentId, toAgentId: editor.agentId, reason: 'polish', to: editor };
  expect(lastFace(['agent.handoff', passed])).toEqual({
    kind: 'task-status',
    status: 'working',
    agentId: editor.agentId,
    metadata: { handoffFrom: agentId, handoffTo: editor.agentId, reason: 'polish' },
  });
  const context = { subtaskId: 'run_child', prompt: 'Check it', toolCallId: 'c1' };
  expect(lastFace(['agent.handoff', { ...passed, context }])).toEqual({
    kind: 'subtask-created',
    subtaskId: 'run_child',
    agentId: editor.agentId,
    prompt: 'Check it',
    toolCallId: 'c1',
  });
});

test('a handoff while another node waits does not say that the task works', () => {
  const passed = { nodeId: 'a', fromAgentId: agentId, toAgentId: editor.agentId };
  const question = { nodeId: 'g', interruptId: 'i1', kind: 'approval', key: 'k', data: { title: 'Ship it?' } };
  const face = lastFace(
    nodeStarted('g'),
    ['interrupt.requested', question],
    ['node.suspended', { nodeId: 'g', interruptId: 'i1' }],
    ['agent.handoff', passed],
  );
  expect(face).toMatchObject({ status: 'waiting-input', metadata: { handoffTo: editor.agentId } });
});

test('the agent of the run is the one that acted last, and what each used is in the snapshot', () => {
  const used = { provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, costEstimateUsd: 0.5, nodeId: 'a' };
  const passed = { nodeId: 'a', fromAgentId: agentId, toAgentId: editor.agentId, to: editor };
  const view = viewAfter(...begun, ['provider.usage', used], ['agent.handoff', passed], ['provider.usage', used]);
  const cost = { calls: 1, usd: 0.5, tokens: { input: 3, output: 4 } };
  expect(runSnapshot(view)).toMatchObject({
    agent: editor,
    metrics: { openwopCost: { usd: 1 }, agents: { [agentId]: cost, [editor.agentId]: cost } },
  });
});

test('an invocation is shown by the reference its run is pinned to', () => {
  const agents = { [editor.agentId]: { hash: 'h', ref: editor } };
  const view = viewAfter(
    ['run.started', { workflowId: 'w', agents }],
    nodeStarted('a', { typeId: 'cairn.agent', agent: writer }),
    ['agent.invocation.started', { nodeId: 'a', invocationId: 'i', agentId: editor.agentId, source: 'workflow-node' }],
  );
  expect([view.agent, view.nodeStates.a?.agentId]).toEqual([editor, editor.agentId]);
});

const held = { agentId, threshold: 0.7, observed: 0.4, decision: 'ship' };
const holds: readonly Said[] = [
  ['node.suspended', { nodeId: 'a', interruptId: 'i1', kind: 'low-confidence', reason: 'low-confidence', ...held }],
  ['interrupt.requested', { nodeId: 'a', interruptId: 'i1', kind: 'low-confidence', key: 'k', data: held }],
];

test('a held decision suspends its node first and is then put to somebody; the run waits for approval', () => {
  const faces = facesOf(...begun, ...holds, ...answered('a', 'i1'));
  expect(faces.slice(3)).toEqual([
    {
      kind: 'task-status',
      status: 'waiting-input',
      agentId,
      metadata: { blockedBy: 'user', pending: [{ type: 'input', id: 'i1' }] },
    },
    {
      kind: 'input-required',
      inputId: 'i1',
      inputType: 'clarification',
      prompt: 'Confirm the decision.',
      agentId,
      metadata: { reason: 'low-confidence', threshold: 0.7, observed: 0.4, decision: 'ship' },
    },
    expect.objectContaining({ kind: 'input-received' }),
    { kind: 'task-status', status: 'working', agentId },
  ]);
  const waiting = viewAfter(...begun, ...holds);
  expect([waiting.status, waiting.currentNodeId]).toEqual(['waiting-approval', 'a']);
  expect(viewAfter(...begun, ...holds, ...answered('a', 'i1')).status).toBe('running');
});

const signIn = {
  kind: 'external-event',
  key: 'k',
  timeoutMs: 60_000,
  data: { eventType: 'sign-in', correlation: { authType: 'oauth2', provider: 'github', prompt: 'Sign in to GitHub' } },
};
const signsIn: readonly Said[] = [
  called('c1'),
  ['cairn.step.returned', { nodeId: 'a', callId: 'c1', attempt: 1, suspended: { kind: 'signIn' } }],
  ['interrupt.requested', { nodeId: 'a', interruptId: 'i1', ...signIn }],
  ['node.suspended', { nodeId: 'a', interruptId: 'i1', kind: 'external-event' }],
];

test('a sign-in is asked for by the call that needs it, and the task waits for it as for nothing else', () => {
  expect(facesOf(...begun, ...signsIn).slice(5)).toEqual([
    {
      kind: 'auth-required',
      authId: 'i1',
      authType: 'oauth2',
      provider: 'github',
      prompt: 'Sign in to GitHub',
      toolCallId: 'c1',
      agentId,
      metadata: { expiresIn: 60 },
    },
    {
      kind: 'task-status',
      status: 'waiting-auth',
      agentId,
      metadata: { blockedBy: 'user', pending: [{ type: 'auth', id: 'i1' }] },
    },
  ]);
});

test('a sign-in that succeeded is completed; one that was refused or came too late is an error', () => {
  const end = (more: JsonObject) => facesOf(...begun, ...signsIn, ...answered('a', 'i1', more)).slice(7);
  expect(end({ resumeValue: { eventPayload: {} } })).toEqual([
    { kind: 'auth-completed', authId: 'i1', userId: 'ann', agentId },
    { kind: 'task-status', status: 'working', agentId },
  ]);
  expect(end({ resumeValue: { action: 'reject' } })[0]).toMatchObject({
    kind: 'error',
    code: 'auth_denied',
    refId: 'i1',
  });
  expect(end({ outcome: 'rejected', reason: 'timeout' })[0]).toMatchObject({ code: 'auth_expired', retryable: true });
});

test('once the sign-in is done the task shows what else it waits for', () => {
  const question = { nodeId: 'g', interruptId: 'i2', kind: 'approval', key: 'k2', data: { title: 'Ship it?' } };
  const face = lastFace(
    nodeStarted('g'),
    ['interrupt.requested', question],
    ['node.suspended', { nodeId: 'g', interruptId: 'i2' }],
    ...signsIn,
    ...answered('a', 'i1', { resumeValue: { eventPayload: {} } }),
  );
  expect(face).toMatchObject({ status: 'waiting-input', metadata: { pending: [{ type: 'input', id: 'i2' }] } });
});

test('a retry of a model shows as the error it was, where a row says so', () => {
  const error = { code: 'llm_rate_limited', message: 'slow down', retryable: true, scope: 'llm', attempt: 1 };
  expect(lastFace(['cairn.error', { ...error }])).toEqual({ kind: 'error', ...error, agentId });
});

test('a decision that the operator lets pass is no error', () => {
  const payload = { kind: 'confidence-escalation-suppressed', limit: 0.7, observed: 0.4 };
  expect(lastFace(['cap.breached', payload])).toBeNull();
});

test('calls of models count as iterations of the task', () => {
  const used = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 1 };
  expect(lastFace(['provider.usage', used], ['run.completed', { outputs: {} }])).toMatchObject({
    metadata: { iterations: 1, tokensUsed: 2 },
  });
});
