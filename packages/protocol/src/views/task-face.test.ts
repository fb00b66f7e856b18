import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { answered, asks, facesOf, nodeStarted, started, working } from './fold-kit.kit.ts';

const error = { code: 'node_timeout', message: 'too slow', retryable: true };

test('a run begins as a task of the user, a child as one of an agent, and then works', () => {
  expect(facesOf(started, working)).toEqual([
    { kind: 'task-created', initiator: 'user' },
    { kind: 'task-status', status: 'working' },
  ]);
  expect(facesOf(['run.started', { workflowId: 'w', parentRunId: 'run_p' }])[0]).toMatchObject({ initiator: 'agent' });
});

test('a success ends with the status and then the result', () => {
  const [, , status, complete] = facesOf(
    started,
    working,
    ['cairn.task.status', { status: 'completed' }],
    ['run.completed', { outputs: { content: 'Hi' } }, 12],
  );
  expect(status).toEqual({ kind: 'task-status', status: 'completed' });
  expect(complete).toEqual({ kind: 'task-complete', content: 'Hi', metadata: { duration: 12, activeMs: 12 } });
});

test('a failure is one status with its error, a cancellation one with its code and the words of its user', () => {
  expect(facesOf(started, ['run.failed', { error }])[1]).toEqual({
    kind: 'task-status',
    status: 'failed',
    message: 'too slow',
    metadata: { reason: 'deadline_exceeded' },
    error: { ...error, code: 'deadline_exceeded', details: { code: 'node_timeout' } },
  });
  expect(facesOf(started, ['run.cancelled', { reason: 'enough' }])[1]).toEqual({
    kind: 'task-status',
    status: 'canceled',
    message: 'enough',
    metadata: { reason: 'canceled_by_user' },
  });
  const byParent = { parentRunId: 'run_p', reason: 'parent-cancelled' };
  expect(facesOf(started, ['run.cancelled', byParent])[1]).toEqual({
    kind: 'task-status',
    status: 'canceled',
    metadata: { reason: 'canceled_by_parent' },
  });
});

test('a node is a tool call named after its type, with one start and one end over all attempts', () => {
  const faces = facesOf(
    started,
    nodeStarted('n', { inputs: { a: 1 } }),
    ['node.retried', { nodeId: 'n', attempt: 1, delayMs: 500, lastError: error }, 3],
    nodeStarted('n', { attempt: 1 }),
    ['node.completed', { nodeId: 'n', outputs: { b: 2 } }, 4],
  );
  const metadata = { provider: 'workflow' };
  expect(faces.slice(1)).toEqual([
    { kind: 'tool-start', toolCallId: 'n#0', toolName: 'core.noop', arguments: { a: 1 }, metadata },
    {
      kind: 'error',
      code: 'tool_timeout',
      message: 'too slow',
      retryable: true,
      details: { code: 'node_timeout' },
      scope: 'tool',
      refId: 'n#0',
      attempt: 1,
      retryAfterMs: 500,
    },
    null,
    {
      kind: 'tool-complete',
      toolCallId: 'n#0',
      toolName: 'core.noop',
      success: true,
      result: { b: 2 },
      metadata: { provider: 'workflow', duration: 7, retries: 1 },
    },
  ]);
});

test('a second visit of a node is another call', () => {
  const done = ['node.completed', { nodeId: 'n' }] as const;
  const faces = facesOf(started, nodeStarted('n'), done, nodeStarted('n', { visit: 1 }), done);
  expect(faces.slice(1).map((face) => face?.toolCallId)).toEqual(['n#0', 'n#0', 'n#1', 'n#1']);
});

test('a node that fails closes its call with the error as text and in full', () => {
  expect(facesOf(started, nodeStarted('n'), ['node.failed', { nodeId: 'n', error }])[2]).toMatchObject({
    kind: 'tool-complete',
    success: false,
    error: 'too slow',
    errorInfo: { ...error, code: 'tool_timeout', details: { code: 'node_timeout' } },
  });
});

test('a node that is cancelled closes its call', () => {
  expect(facesOf(started, nodeStarted('n'), ['node.cancelled', { nodeId: 'n', reason: 'enough' }])[2]).toMatchObject({
    kind: 'tool-complete',
    success: false,
    error: 'canceled',
    errorInfo: { code: 'tool_canceled', message: 'enough', retryable: false },
  });
});

test('a node that never started shows nothing when it is skipped, and an error of the task when it fails', () => {
  expect(facesOf(started, ['node.skipped', { nodeId: 'n' }])[1]).toBeNull();
  expect(facesOf(started, ['node.failed', { nodeId: 'n', error }])[1]).toEqual({
    kind: 'error',
    ...error,
    code: 'deadline_exceeded',
    details: { code: 'node_timeout' },
    scope: 'task',
  });
  const visited = [started, nodeStarted('n'), ['node.completed', { nodeId: 'n' }] as const];
  expect(facesOf(...visited, ['node.skipped', { nodeId: 'n' }])[3]).toBeNull();
});

test('a question is asked, then waited for; an answer is received, then worked on', () => {
  const faces = facesOf(
    started,
    working,
    nodeStarted('gate'),
    ...asks('gate', 'i1', { timeoutMs: 90_000, resumeSchema: { type: 'object' } }),
    ...answered('gate', 'i1'),
  );
  expect(faces.slice(3)).toEqual([
    {
      kind: 'input-required',
      inputId: 'i1',
      inputType: 'confirmation',
      prompt: 'Ship it?',
      schema: { type: 'object' },
      toolCallId: 'gate#0',
      expiresAt: '2023-11-14T22:14:50.000Z',
      metadata: { timeout: 90 },
    },
    {
      kind: 'task-status',
      status: 'waiting-input',
      metadata: { blockedBy: 'user', pending: [{ type: 'input', id: 'i1' }] },
    },
    {
      kind: 'input-received',
      inputId: 'i1',
      providedBy: 'user',
      userId: 'ann',
      metadata: { duration: 40, outcome: 'answered' },
    },
    { kind: 'task-status', status: 'working' },
  ]);
});

test('an answer says how long it took since its question, also when the node asked two at once', () => {
  const later = ['log.appended', {}, 10] as const;
  const faces = facesOf(
    started,
    working,
    nodeStarted('a'),
    ...asks('a', 'i1'),
    later,
    ...asks('a', 'i2'),
    ...answered('a', 'i1'),
    ...answered('a', 'i2'),
  );
  const said = faces.flatMap((face) => (face?.kind === 'input-received' ? [face] : []));
  expect(said).toMatchObject([
    { inputId: 'i1', metadata: { duration: 50 } },
    { inputId: 'i2', metadata: { duration: 80 } },
  ]);
});

test('of two questions only the first changes the status, and only the last answer changes it back', () => {
  const faces = facesOf(
    started,
    working,
    nodeStarted('a'),
    nodeStarted('b'),
    ...asks('a', 'i1'),
    ...asks('b', 'i2'),
    ...answered('a', 'i1'),
    ...answered('b', 'i2'),
  );
  expect(faces.flatMap((face) => (face?.kind === 'task-status' ? [face.status] : []))).toEqual([
    'working',
    'waiting-input',
    'working',
  ]);
});

test.each([
  [
    'clarification',
    {
      questions: [
        { id: 'q', question: 'Which?' },
        { id: 'r', question: 'When?' },
      ],
    },
    'clarification',
    'Which?\nWhen?',
  ],
  ['custom', { customKind: 'cairn.step.interrupted' }, 'custom', 'Answer needed: cairn.step.interrupted.'],
  [
    'custom',
    {
      customKind: 'cairn.step.interrupted',
      payload: { tool: 'acme.shop:refund', inputs: { order: 4711, to: 'Ada L.', note: 'x'.repeat(500) } },
    },
    'custom',
    `Was acme.shop:refund(order=4711, to="Ada L.", note=${'x'.repeat(119)}…) carried out?`,
  ],
  ['external-event', { eventType: 'paid', correlation: { id: 1 } }, 'tool-execution', 'Waiting for the event paid.'],
  ['low-confidence', { agentId: 'core.a.b' }, 'clarification', 'Confirm the decision.'],
  ['conversation.exchange', { conversationId: 'c', prompt: 'And now?' }, 'clarification', 'And now?'],
] as const)('a %s question is put in its own words', (kind, data, inputType, prompt) => {
  const face = facesOf(started, nodeStarted('n'), ...asks('n', 'i1', { kind, data }))[2];
  expect(face).toMatchObject({ kind: 'input-required', inputType, prompt });
});

test('an awaited event is shown as the call it stands for', () => {
  const data = { eventType: 'paid', correlation: { id: 1 } };
  const face = facesOf(started, nodeStarted('n'), ...asks('n', 'i1', { kind: 'external-event', data }))[2];
  expect(face?.metadata).toEqual({ toolCall: { id: 'n#0', function: { name: 'paid', arguments: '{"id":1}' } } });
});

test('a conversation is one input, which its turns leave open and its end closes', () => {
  const data = { conversationId: 'c', prompt: 'And now?', turnIndex: 1 };
  const open = [started, nodeStarted('n'), ...asks('n', 'i1', { kind: 'conversation.exchange', data })] as const;
  const taken = ['conversation.exchanged', { nodeId: 'n', conversationId: 'c', turnIndex: 1 }] as const;
  const faces = facesOf(...open, taken, ...answered('n', 'i1', { resumeValue: { operation: 'close' } }));
  expect(faces[2]?.metadata).toEqual({ reason: 'conversation', conversationId: 'c', turnIndex: 1 });
  expect(faces.map((face) => face?.kind ?? null).slice(2)).toEqual([
    'input-required',
    'task-status',
    null,
    'input-received',
    'task-status',
  ]);
});

test('an answer that never came is credited to the host, and a rejection is marked', () => {
  const waiting = [started, nodeStarted('gate'), ...asks('gate', 'i1')];
  const timeout = facesOf(...waiting, ...answered('gate', 'i1', { outcome: 'rejected', reason: 'timeout' }))[4];
  expect(timeout).toMatchObject({ providedBy: 'agent', agentId: 'core.system', metadata: { outcome: 'timeout' } });
  expect(timeout).not.toHaveProperty('userId');
  const rejected = facesOf(...waiting, ...answered('gate', 'i1', { resumeValue: { action: 'reject' } }))[4];
  expect(rejected).toMatchObject({ providedBy: 'user', metadata: { outcome: 'rejected' } });
  const outcomeOf = (answers: Json) =>
    facesOf(...waiting, ...answered('gate', 'i1', { resumeValue: { answers } }))[4]?.metadata;
  expect(outcomeOf({ q: false })).toMatchObject({ outcome: 'rejected' });
  expect(outcomeOf({ q: true })).toMatchObject({ outcome: 'answered' });
  expect(outcomeOf({ q: false, r: 'x' })).toMatchObject({ outcome: 'answered' });
});

test('a task that does another one again says so', () => {
  const [face] = facesOf(['run.started', { workflowId: 'w', retryOf: 'run_a' }]);
  expect(face).toMatchObject({ kind: 'task-created', metadata: { retryOf: 'run_a' } });
});

test.each([
  ['run-duration', 'deadline_exceeded'],
  ['node-executions', 'iteration_limit'],
  ['loop-iterations', 'iteration_limit'],
  ['budget-cost', 'budget_exceeded'],
])('a breach of %s is the error %s', (kind, code) => {
  expect(facesOf(started, ['cap.breached', { kind, limit: 5, observed: 6 }])[1]).toEqual({
    kind: 'error',
    code,
    message: `The limit ${kind} of 5 was exceeded (6).`,
    retryable: false,
    scope: 'task',
    details: { kind, limit: 5, observed: 6 },
  });
});

test('a pause repeats the status with its reason', () => {
  expect(facesOf(started, working, ['run.paused'], ['run.resumed']).slice(2)).toEqual([
    { kind: 'task-status', status: 'working', metadata: { reason: 'paused' } },
    { kind: 'task-status', status: 'working', metadata: { reason: 'resumed' } },
  ]);
});

test('a pause waits for no question of a node that has ended', () => {
  const faces = facesOf(
    started,
    working,
    nodeStarted('n'),
    ...asks('n', 'int_0'),
    ['node.failed', { nodeId: 'n', error }],
    ['run.paused'],
  );
  expect(faces.at(-1)).toEqual({ kind: 'task-status', status: 'working', metadata: { reason: 'paused' } });
});

test('a log that says only what it must still shows', () => {
  expect(facesOf(started, ['node.retried', { nodeId: 'n', attempt: 1 }])[1]).toEqual({
    kind: 'error',
    code: 'tool_failed',
    message: 'The attempt failed.',
    retryable: true,
    scope: 'tool',
    attempt: 1,
  });
  expect(facesOf(started, nodeStarted('n'), ['node.skipped', { nodeId: 'n' }])[2]).toMatchObject({
    error: 'The node was skipped.',
  });
  expect(facesOf(started, ['run.failed', null])[1]).toEqual({ kind: 'task-status', status: 'failed' });
  expect(facesOf(['run.completed', null])[0]).toEqual({ kind: 'task-complete', metadata: {} });
  expect(facesOf(started, ['run.paused'])[1]).toBeNull();
  expect(facesOf(['run.cancelled', null])[0]).toMatchObject({ metadata: { reason: 'canceled_by_user' } });
});

test('a question of no node, without words of its own, is asked all the same', () => {
  const asked = { interruptId: 'i1', kind: 'conversation.close', key: 'k', data: { conversationId: 'c' } };
  expect(facesOf(started, ['interrupt.requested', asked])[1]).toEqual({
    kind: 'input-required',
    inputId: 'i1',
    inputType: 'clarification',
    prompt: 'Answer needed: conversation.close.',
  });
  const event = { ...asked, kind: 'external-event', data: {} };
  expect(facesOf(started, ['interrupt.requested', event])[1]).toMatchObject({
    metadata: { toolCall: { id: 'i1', function: { name: 'event', arguments: '{}' } } },
  });
});

test("an answer of nobody in particular is that of the run's owner, or of somebody unknown", () => {
  const unsigned = ['interrupt.resolved', { nodeId: 'gate', interruptId: 'i1' }] as const;
  expect(facesOf(started, unsigned)[1]).toMatchObject({ userId: 'ann', metadata: { outcome: 'answered' } });
  expect(facesOf(['run.started', { workflowId: 'wf' }], unsigned)[1]).toMatchObject({ userId: 'anonymous' });
});

test('a result counts the tokens that were used', () => {
  const usage = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2 };
  expect(facesOf(started, ['provider.usage', usage], ['run.completed', {}])[2]).toMatchObject({
    metadata: { tokensUsed: 3 },
  });
});

test('everything else is not shown', () => {
  const others = [
    'approval.requested',
    'clarification.resolved',
    'cairn.timer.set',
    'variable.changed',
    'acme.new.thing',
  ];
  for (const type of others) expect(facesOf(started, [type, { nodeId: 'n' }])[1]).toBeNull();
});
