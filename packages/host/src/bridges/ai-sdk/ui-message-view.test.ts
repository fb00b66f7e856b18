import { parseShape, type TaskEvent, taskEvent } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import type { UiChunk } from './chunks.ts';
import { UiMessageView } from './ui-message-view.ts';

type Made = Readonly<Record<string, unknown>> & { readonly kind: TaskEvent['kind']; readonly taskId?: string };

const SUB = 'run_a.0';

/** What a view shows of events, one list for each. */
function shown(
  events: readonly Made[],
  view = new UiMessageView({ taskId: 'run_a' }),
): readonly (readonly UiChunk[])[] {
  return events.map((fields, i) => {
    const envelope = { contextId: 'ctx a', taskId: 'run_a', timestamp: '2026-01-01T00:00:00.000Z', cursor: i + 1 };
    const parent = fields.taskId === SUB ? { parentTaskId: 'run_a' } : {};
    return view.take(parseShape(taskEvent, { ...envelope, eventId: `e${i}`, ...parent, ...fields }, 'The event'));
  });
}

const typesOf = (chunks: readonly UiChunk[] | undefined) => chunks?.map(({ type }) => type);

const begun: readonly Made[] = [
  { kind: 'task-created', initiator: 'user' },
  { kind: 'task-status', status: 'working' },
];
const delta = (text: string, index = 0): Made => ({ kind: 'content-delta', contentId: 'c', delta: text, index });
const call = (toolCallId: string, more: object = {}): Made => ({
  kind: 'tool-start',
  toolCallId,
  toolName: 'acme:find',
  arguments: {},
  ...more,
});
const result = (toolCallId: string, more: object = {}): Made => ({
  kind: 'tool-complete',
  toolCallId,
  toolName: 'acme:find',
  success: true,
  result: 1,
  ...more,
});

describe('text', () => {
  test('after a result begins a step, so that taking it back leaves the result alone', () => {
    const lost: Made = { kind: 'error', code: 'c', message: 'lost', retryable: true, scope: 'llm' };
    const chunks = shown([...begun, call('a'), result('a'), delta('Hel'), lost]);
    expect(typesOf(chunks[4])).toEqual(['finish-step', 'start-step', 'text-start', 'text-delta']);
    expect(typesOf(chunks[5])).toEqual(['reset-step', 'data-problem']);
  });

  test('joins the reasoning before it, which comes again when the text is taken back', () => {
    const thought = { thoughtId: 't', thoughtType: 'planning', verbosity: 'brief', content: 'Hm.', index: 0 };
    const chunks = shown([
      ...begun,
      { kind: 'thought-stream', ...thought, metadata: { confidence: 0.5 } },
      delta('Hel'),
      { kind: 'task-status', status: 'working', metadata: { reason: 'host_restarted' } },
    ]);
    expect(chunks[2]).toEqual([
      { type: 'start-step' },
      {
        type: 'reasoning-start',
        id: 't',
        providerMetadata: { cairn: { thoughtType: 'planning', verbosity: 'brief', confidence: 0.5 } },
      },
      { type: 'reasoning-delta', id: 't', delta: 'Hm.' },
      { type: 'reasoning-end', id: 't' },
    ]);
    expect(typesOf(chunks[3])).toEqual(['text-start', 'text-delta']);
    expect(typesOf(chunks[4])).toEqual(['reset-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end']);
  });

  test('that begins again replaces what there was of it', () => {
    const chunks = shown([
      ...begun,
      delta('Hel'),
      delta('Hi'),
      { kind: 'content-complete', contentId: 'c', content: 'Hi.' },
    ]);
    expect(typesOf(chunks[3])).toEqual(['reset-step', 'text-start', 'text-delta']);
    expect(chunks[4]).toEqual([
      { type: 'text-delta', id: 'c', delta: '.' },
      { type: 'text-end', id: 'c' },
    ]);
  });

  test('that is too long for its last event stays as its pieces had it', () => {
    const cut = (content: string, metadata = {}): Made => ({
      kind: 'content-complete',
      contentId: 'c',
      content,
      metadata,
    });
    const end = cut('Hel\ufffd', { truncated: true, artifact: { artifactId: 'values/1', version: 1 } });
    expect(shown([...begun, delta('Hello, all of you.'), end])[3]).toEqual([{ type: 'text-end', id: 'c' }]);
    // Of another text, or of one that is not cut, the last event counts.
    expect(typesOf(shown([...begun, delta('Goodbye.'), end])[3])).toContain('reset-step');
    expect(typesOf(shown([...begun, delta('Hello, all.'), cut('Hello')])[3])).toContain('reset-step');
  });

  test('is the result of a task that said nothing', () => {
    const chunks = shown([...begun, { kind: 'task-complete', content: '42' }]);
    expect(chunks[2]).toContainEqual({ type: 'text-delta', id: 'run_a:result', delta: '42' });
  });
});

describe('calls', () => {
  test('of a subtask show when they need the user, and a call shows once', () => {
    const below = { taskId: SUB };
    const asked = { inputId: 'i', inputType: 'confirmation', prompt: 'Sure?', toolCallId: 'a' };
    const chunks = shown([
      ...begun,
      { kind: 'subtask-created', subtaskId: SUB, prompt: 'Find it.', agentId: 'host:finder' },
      call('a', below),
      call('b', below),
      { kind: 'input-required', ...below, ...asked },
      { kind: 'input-forwarded', ...below, inputId: 'i' },
      call('a', below),
      result('b', below),
      {
        kind: 'input-received',
        ...below,
        inputId: 'i',
        providedBy: 'user',
        userId: 'u',
        metadata: { outcome: 'rejected' },
      },
      result('a', below),
    ]);
    expect(chunks[2]).toContainEqual({
      type: 'data-subtask',
      id: SUB,
      data: { taskId: SUB, agentId: 'host:finder', prompt: 'Find it.', status: 'created' },
    });
    // The agent above may answer first.
    expect(chunks.slice(3, 6)).toEqual([[], [], []]);
    expect(typesOf(chunks[6])).toEqual([
      'tool-input-start',
      'tool-input-available',
      'tool-approval-request',
      'data-question',
    ]);
    expect(chunks.slice(7, 9)).toEqual([[], []]);
    expect(chunks[9]?.[0]).toEqual({ type: 'tool-approval-response', approvalId: 'i', approved: false });
    expect(chunks[10]).toEqual([{ type: 'tool-output-available', toolCallId: 'a', output: 1 }]);
  });

  test('of the page have its own names and are not for the host, the others are', () => {
    const [, , own, host] = shown([...begun, call('a', { toolName: 'client:pick' }), call('b')]);
    expect(own?.at(-1)).toEqual({ type: 'tool-input-available', toolCallId: 'a', toolName: 'pick', input: {} });
    expect(host?.at(-1)).toMatchObject({ toolName: 'acme:find', providerExecuted: true, dynamic: true });
  });
});

describe('a task waits', () => {
  const ask = (more: object = {}): Made => ({
    kind: 'input-required',
    inputId: 'i',
    inputType: 'custom',
    prompt: '?',
    ...more,
  });

  test('when it asks the user and nothing else goes on, and says so in a chunk', () => {
    const view = new UiMessageView({ taskId: 'run_a' });
    shown([...begun, ask()], view);
    expect(view.isWaiting).toBe(false);
    const [chunks] = shown([{ kind: 'task-status', status: 'waiting-input' }], view);
    expect([view.isWaiting, chunks?.at(-1)]).toEqual([
      true,
      expect.objectContaining({ type: 'data-status', transient: true }),
    ]);
    shown([{ kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'u' }], view);
    expect(view.isWaiting).toBe(false);
  });

  test('not while a tool of the host is at work beside the one that asks', () => {
    const view = new UiMessageView({ taskId: 'run_a' });
    const waits: Made = { kind: 'task-status', status: 'waiting-input' };
    shown([...begun, call('a'), call('b'), ask({ toolCallId: 'a' }), waits], view);
    expect(view.isWaiting).toBe(false);
    shown([result('b')], view);
    expect(view.isWaiting).toBe(true);
  });

  test('not while a subtask works, and not for a sign-in', () => {
    const view = new UiMessageView({ taskId: 'run_a' });
    const subtask: Made = { kind: 'subtask-created', subtaskId: SUB, prompt: 'p' };
    const auth: Made = { kind: 'auth-required', authId: 'x', authType: 'oauth2', prompt: 'Sign in.' };
    shown([...begun, auth, { kind: 'task-status', status: 'waiting-auth' }], view);
    expect(view.isWaiting).toBe(false);
    shown([subtask, { kind: 'task-status', status: 'waiting-subtask' }, ask({ taskId: SUB, requireUser: true })], view);
    expect(view.isWaiting).toBe(false);
    shown([{ kind: 'task-status', taskId: SUB, status: 'waiting-input' }], view);
    expect(view.isWaiting).toBe(true);
  });
});

test('a reader that gave an answer keeps it, any other one learns who gave it', () => {
  const events: readonly Made[] = [
    ...begun,
    { kind: 'input-required', inputId: 'i', inputType: 'custom', prompt: '?' },
    { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'u' },
  ];
  const other = shown(events);
  expect(other[3]?.[0]).toMatchObject({
    type: 'tool-output-available',
    output: { outcome: 'answered', providedBy: 'user' },
  });
  const own = shown(events, new UiMessageView({ taskId: 'run_a', held: new Set(['i']) }));
  expect(typesOf(own[3])).toEqual(['data-question']);
});

test('a file is an address once it is complete, with its name in it escaped', () => {
  const file = {
    kind: 'file-write',
    artifactId: 'a/b',
    mimeType: 'text/csv',
    name: 'a/b',
    metadata: { version: 2 },
  } as const;
  const chunks = shown([
    ...begun,
    { ...file, data: 'x', index: 0, complete: false },
    { kind: 'file-write', artifactId: 'a/b', data: 'y', index: 1, complete: false },
    { kind: 'file-write', artifactId: 'a/b', data: '', index: 2, complete: true },
  ]);
  const url = '/api/contexts/ctx%20a/artifacts/a%2Fb?version=2';
  expect(chunks[2]?.at(-1)).toMatchObject({ type: 'data-artifact', id: 'a/b', data: { open: true, name: 'a/b' } });
  expect(chunks[3]).toEqual([]);
  expect(chunks[4]).toMatchObject([
    { type: 'data-artifact', data: { open: false, name: 'a/b', version: 2, url } },
    { type: 'file', url, mediaType: 'text/csv' },
  ]);
});

test('ends with what became of the task, and shows nothing after it', () => {
  const error = { code: 'c', message: 'It broke.', retryable: false };
  const end = (last: Made) => shown([...begun, last, delta('late')]).slice(2);
  expect(typesOf(end({ kind: 'task-complete' })[0])).toEqual(['message-metadata', 'finish']);
  expect(end({ kind: 'task-status', status: 'failed', error })[0]?.slice(-2)).toEqual([
    { type: 'error', errorText: 'It broke.' },
    { type: 'finish', finishReason: 'error' },
  ]);
  const canceled = end({ kind: 'task-status', status: 'canceled', metadata: { reason: 'enough' } });
  expect([canceled[0]?.at(-1), canceled[1]]).toEqual([{ type: 'abort', reason: 'enough' }, []]);
});
