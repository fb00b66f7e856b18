import { expect, test } from 'vitest';
import { answered, asks, nodeStarted, type Said, START_AT, started, viewAfter } from './fold-kit.kit.ts';
import { runSnapshot } from './snapshot.ts';

const error = { code: 'node_timeout', message: 'too slow' };

test('a run is pending before its first event and running after run.started', () => {
  expect(viewAfter().status).toBe('pending');
  const view = viewAfter([
    'run.started',
    {
      workflowId: 'wf',
      definitionHash: 'h',
      workflowVersion: '1.2',
      inputs: { a: 1 },
      variables: { a: 1, b: 2 },
      owner: { tenant: 't' },
      tags: ['x'],
      metadata: { m: 1 },
      configurable: { recursionLimit: 3 },
      parentRunId: 'run_p',
      parentNodeId: 'n',
    },
  ]);
  expect(view).toMatchObject({
    status: 'running',
    workflowId: 'wf',
    definitionHash: 'h',
    workflowVersion: '1.2',
    variables: { a: 1, b: 2 },
    inputs: { a: 1 },
    owner: { tenant: 't' },
    tags: ['x'],
    metadata: { m: 1 },
    configurable: { recursionLimit: 3 },
    parentRunId: 'run_p',
    parentNodeId: 'n',
    startedAt: START_AT,
    lastSeq: 0,
  });
});

test('inputs seed the variables of a log that names none', () => {
  expect(viewAfter(['run.started', { workflowId: 'wf', inputs: { a: 1 } }]).variables).toEqual({ a: 1 });
});

test.each([
  ['the defaults alone', { b: 2, c: 3 }],
  ['the inputs again, as rows of an earlier version have them', { a: 1, b: 2, c: 3 }],
])('inputs overlay the defaults of a log whose variables hold %s', (_, variables) => {
  const inputs = { a: 1, b: 2 };
  const view = viewAfter(['run.started', { workflowId: 'wf', inputs, variables }]);
  expect(view.variables).toEqual({ a: 1, b: 2, c: 3 });
});

test('a variable changes by name, and one without a next value is gone', () => {
  const view = viewAfter(
    ['run.started', { workflowId: 'wf', variables: { a: 1, b: 2 } }],
    ['variable.changed', { name: 'a', next: null }],
    ['variable.changed', { name: 'b' }],
    ['variable.changed', { name: '__proto__', next: 3 }],
  );
  expect(JSON.stringify(view.variables)).toBe('{"a":null,"__proto__":3}');
});

test('a node is followed through attempts, visits and its end', () => {
  const first = nodeStarted('n');
  const failed = ['node.retried', { nodeId: 'n', attempt: 1, lastError: error }, 5] as const;
  const again = nodeStarted('n', { attempt: 1 });
  expect(viewAfter(started, first, failed).nodeStates.n).toMatchObject({ status: 'retrying', active: true, error });
  expect(viewAfter(started, first, failed, again).nodeStates.n).toMatchObject({
    status: 'running',
    attempt: 1,
    visit: 0,
    error: null,
  });
  const done = ['node.completed', { nodeId: 'n', outputs: { ok: true } }, 7] as const;
  const view = viewAfter(started, first, failed, again, done);
  expect(view.nodeStates.n).toMatchObject({
    status: 'completed',
    active: false,
    outputs: { ok: true },
    endedAt: START_AT + 12,
  });
  expect(view.activeNodes).toBe(0);
  const next = viewAfter(started, first, failed, again, done, nodeStarted('n', { visit: 1 }));
  expect(next.nodeStates.n).toMatchObject({
    status: 'running',
    visit: 1,
    attempt: 0,
    outputs: null,
    endedAt: null,
    toolCallId: 'n#1',
  });
});

test('visits are counted for logs that do not', () => {
  const start = ['node.started', { nodeId: 'n', typeId: 't' }] as const;
  const view = viewAfter(started, start, ['node.completed', { nodeId: 'n' }], start);
  expect(view.nodeStates.n).toMatchObject({ visit: 1, attempt: 0 });
});

test('another start of an active node is another attempt of the same visit', () => {
  const start = ['node.started', { nodeId: 'n', typeId: 't', attempt: 0 }] as const;
  const view = viewAfter(started, start, start);
  expect(view.activeNodes).toBe(1);
  expect(view.nodeStates.n).toMatchObject({ visit: 0, toolCallId: 'n#0', visitSeq: 1 });
});

test('the agent of a node becomes that of the run and stays after the node has ended', () => {
  const view = viewAfter(started, nodeStarted('n', { agent: { agentId: 'core.a.b' } }), [
    'node.completed',
    { nodeId: 'n' },
  ]);
  expect(view.agent).toEqual({ agentId: 'core.a.b' });
});

test('a question is open with all that its answer is checked against', () => {
  const view = viewAfter(
    started,
    nodeStarted('gate'),
    ...asks('gate', 'i1', { timeoutMs: 100, resumeSchema: { type: 'object' } }),
  );
  expect(view).toMatchObject({ status: 'waiting-approval', currentNodeId: 'gate' });
  expect(view.nodeStates.gate).toMatchObject({ status: 'suspended', interruptId: 'i1' });
  expect(view.interrupts.i1).toEqual({
    interruptId: 'i1',
    nodeId: 'gate',
    kind: 'approval',
    key: 'k:i1',
    data: { title: 'Ship it?' },
    resumeSchema: { type: 'object' },
    timeoutMs: 100,
    requestedAt: START_AT,
    expiresAt: START_AT + 100,
    votes: [],
    seq: 2,
    suspended: true,
  });
});

test('a question of a log that gives it no id goes by its key', () => {
  const asked = { kind: 'custom', key: 'k', data: { customKind: 'c' } };
  const view = viewAfter(
    started,
    ['interrupt.requested', asked],
    ['node.suspended', { nodeId: 'n', interruptId: 'k' }],
  );
  expect(view).toMatchObject({ status: 'waiting-input', interrupts: { k: { nodeId: '', expiresAt: null } } });
});

test('a suspension on a question that was never asked, told twice, or answered before, holds nothing up', () => {
  const [asked, suspended] = asks('n', 'i1') as [Said, Said];
  expect(viewAfter(started, nodeStarted('n'), suspended)).toMatchObject({ status: 'running', currentNodeId: null });
  const twice = viewAfter(
    started,
    nodeStarted('n'),
    asked,
    suspended,
    suspended,
    ...answered('n', 'i1'),
    ...answered('n', 'i1'),
  );
  expect(twice).toMatchObject({ status: 'running', waitOrder: [] });
});

test('a decision without a name, or at a node that asks nothing, is no vote', () => {
  const waiting = [started, nodeStarted('gate'), ...asks('gate', 'i1')];
  const nameless = ['approval.received', { nodeId: 'gate', action: 'timeout' }] as const;
  const elsewhere = ['approval.received', { nodeId: 'other', action: 'accept', decidedBy: 'ann' }] as const;
  expect(viewAfter(...waiting, nameless, elsewhere).interrupts.i1?.votes).toEqual([]);
});

test('an answer closes the question and the run goes on', () => {
  const view = viewAfter(started, nodeStarted('gate'), ...asks('gate', 'i1'), ...answered('gate', 'i1'));
  expect(view).toMatchObject({
    status: 'running',
    currentNodeId: null,
    interrupts: {},
    resolvedInterrupts: { i1: 'resolved' },
  });
  expect(view.nodeStates.gate).toMatchObject({ status: 'running', interruptId: 'i1' });
});

test('of several questions the oldest names the node, and the run waits until the last is answered', () => {
  const both = [
    started,
    nodeStarted('a'),
    nodeStarted('b'),
    ...asks('a', 'i1', { kind: 'clarification' }),
    ...asks('b', 'i2'),
  ];
  expect(viewAfter(...both)).toMatchObject({ status: 'waiting-approval', currentNodeId: 'a' });
  expect(viewAfter(...both, ...answered('a', 'i1'))).toMatchObject({ status: 'waiting-approval', currentNodeId: 'b' });
  expect(viewAfter(...both, ...answered('b', 'i2'))).toMatchObject({ status: 'waiting-input', currentNodeId: 'a' });
});

test('a question that nobody answers does not keep the ids of those that came and went after it', () => {
  const many = Array.from({ length: 200 }, (_, i) => [...asks('b', `i${i}`), ...answered('b', `i${i}`)]).flat();
  const view = viewAfter(started, nodeStarted('a'), nodeStarted('b'), ...asks('a', 'first'), ...many);
  expect(view.waitOrder[0]).toBe('first');
  expect(view.waitOrder.length).toBeLessThan(50);
  expect(view.currentNodeId).toBe('a');
});

test('a question that ran out of time is expired, one whose node ended is cancelled', () => {
  const waiting = [started, nodeStarted('gate'), ...asks('gate', 'i1')];
  const late = answered('gate', 'i1', { outcome: 'rejected', reason: 'timeout' });
  expect(viewAfter(...waiting, ...late).resolvedInterrupts).toEqual({ i1: 'expired' });
  const failed = viewAfter(...waiting, ['node.failed', { nodeId: 'gate', error }]);
  expect(failed).toMatchObject({ status: 'running', resolvedInterrupts: { i1: 'cancelled' }, interrupts: {} });
  const cancelled = viewAfter(...waiting, ['run.cancelled', {}]);
  expect(cancelled).toMatchObject({ status: 'cancelled', resolvedInterrupts: { i1: 'cancelled' }, waitOrder: [] });
});

test('votes at a gate are kept until it settles', () => {
  const waiting = [started, nodeStarted('gate'), ...asks('gate', 'i1')];
  const vote = ['approval.received', { nodeId: 'gate', action: 'accept', decidedBy: 'ann' }] as const;
  expect(viewAfter(...waiting, vote).interrupts.i1?.votes).toEqual([{ principal: 'ann', action: 'accept' }]);
  expect(() => viewAfter(...waiting, ...answered('gate', 'i1'), vote)).not.toThrow();
});

test('a pause and a cancellation outlast what is asked and answered meanwhile', () => {
  const waiting = [started, nodeStarted('gate'), ...asks('gate', 'i1')];
  expect(viewAfter(...waiting, ['run.paused'], ...answered('gate', 'i1')).status).toBe('paused');
  expect(viewAfter(...waiting, ['run.paused'], ['run.resumed']).status).toBe('waiting-approval');
  expect(viewAfter(...waiting, ['cairn.cancel.requested'], ...answered('gate', 'i1')).status).toBe('cancelling');
  expect(viewAfter(...waiting, ['cairn.cancel.requested'], ['run.paused'], ['run.resumed']).status).toBe('cancelling');
});

test('nothing after the terminal event counts', () => {
  const view = viewAfter(started, ['run.completed', { outputs: { a: 1 } }, 9], nodeStarted('n'), [
    'run.failed',
    { error },
  ]);
  expect(view).toMatchObject({
    status: 'completed',
    outputs: { a: 1 },
    endedAt: START_AT + 9,
    nodeStates: {},
    error: null,
    lastSeq: 3,
  });
});

test('unknown types, unknown fields and payloads of another shape are tolerated', () => {
  const view = viewAfter(started, ['acme.new.thing', { deep: [1] }], ['node.completed', { nodeId: 'n', novel: 1 }]);
  expect(view.nodeStates.n?.status).toBe('completed');
  expect(viewAfter(started, ['run.completed', null]).outputs).toBeNull();
});

test('usage adds up over calls, and only in one currency', () => {
  const call = { provider: 'p', model: 'm', inputTokens: 10, outputTokens: 5, costEstimateUsd: 0.25 };
  const view = viewAfter(
    started,
    ['provider.usage', call],
    ['provider.usage', { ...call, model: 'n', totalTokens: 20, currency: 'EUR' }],
  );
  expect(view.usage).toEqual({
    calls: 2,
    inputTokens: 20,
    outputTokens: 10,
    totalTokens: 35,
    costUsd: 0.25,
    provider: 'p',
    model: 'n',
  });
});

test('a snapshot shows what the run waits for, and no more than the wire names', () => {
  const snapshot = runSnapshot(viewAfter(started, nodeStarted('gate'), ...asks('gate', 'i1', { timeoutMs: 5 })));
  expect(snapshot).toEqual({
    runId: 'run_some',
    workflowId: 'wf',
    status: 'waiting-approval',
    owner: { tenant: 't', principal: 'ann' },
    currentNodeId: 'gate',
    startedAt: '2023-11-14T22:13:20.000Z',
    nodeStates: {
      gate: { status: 'suspended', typeId: 'core.noop', attempt: 0, visit: 0, startedAt: '2023-11-14T22:13:20.000Z' },
    },
    variables: {},
    channels: {},
    eventLogSchemaVersion: 2,
    tags: [],
    inputs: {},
    interrupt: {
      kind: 'approval',
      nodeId: 'gate',
      interruptId: 'i1',
      payload: { kind: 'approval', key: 'k:i1', data: { title: 'Ship it?' }, timeoutMs: 5 },
    },
  });
});

test('a snapshot of a failed run has the closed error and what the run cost', () => {
  const usage = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2, costEstimateUsd: 0.5 };
  const failed = { error: { ...error, retryable: true, details: { a: 1 } } };
  const snapshot = runSnapshot(viewAfter(started, ['provider.usage', usage], ['run.failed', failed, 30]));
  expect(snapshot.error).toEqual({ ...error, details: { a: 1 } });
  expect(snapshot.completedAt).toBe('2023-11-14T22:13:20.030Z');
  expect(snapshot.metrics).toEqual({
    openwopCost: { usd: 0.5, tokens: { input: 1, output: 2 }, model: 'm', provider: 'p', duration_ms: 30 },
  });
});

test('a snapshot of a child that completed has its parent, its agent, its options and its outputs', () => {
  const options = { tags: ['x'], metadata: { m: 1 }, configurable: { recursionLimit: 3 }, inputs: { a: 1 } };
  const snapshot = runSnapshot(
    viewAfter(
      ['run.started', { workflowId: 'wf', parentRunId: 'run_p', parentNodeId: 'sub', ...options }],
      nodeStarted('n', { agent: { agentId: 'core.a.b' } }),
      ['node.failed', { nodeId: 'n', error }],
      ['node.skipped', { nodeId: 'm' }],
      ['run.completed', { outputs: { b: 2 } }],
    ),
  );
  expect(snapshot).toMatchObject({
    ...options,
    parentRunId: 'run_p',
    parentNodeId: 'sub',
    agent: { agentId: 'core.a.b' },
    outputs: { b: 2 },
    variables: { a: 1 },
    nodeStates: { n: { status: 'failed', error }, m: { status: 'skipped', attempt: 0, visit: 0 } },
  });
  expect(snapshot).not.toHaveProperty('interrupt');
  expect(snapshot).not.toHaveProperty('currentNodeId');
});

test('a run that has not started has a snapshot too', () => {
  expect(runSnapshot(viewAfter())).toMatchObject({ runId: 'run_some', status: 'pending', variables: {}, inputs: {} });
});

test('an open conversation asks for its next turn, with what was said last by anybody but a person', () => {
  const data = { conversationId: 'c', prompt: 'Well?', turnIndex: 1 };
  const open = [started, nodeStarted('n'), ...asks('n', 'i1', { kind: 'conversation.exchange', data })];
  const said = (turnIndex: number, role: string, content: string, conversationId = 'c'): Said => [
    'conversation.exchanged',
    { nodeId: 'n', conversationId, turnIndex, turn: { role, content } },
  ];
  const asked = (...turns: readonly Said[]) => viewAfter(...open, ...turns).interrupts.i1?.data;
  expect(asked(said(1, 'user', 'a boat'))).toEqual({ conversationId: 'c', prompt: 'Well?', turnIndex: 2 });
  expect(asked(said(1, 'agent', 'How big?'))).toEqual({ conversationId: 'c', prompt: 'How big?', turnIndex: 2 });
  expect(asked(said(1, 'agent', 'x', 'another'))).toEqual(data);
  expect(viewAfter(...open, said(1, 'user', 'x')).status).toBe('waiting-approval');
});
