import { expect, test } from 'vitest';
import { eventsOf, type Made } from '../scripted-context.kit.ts';
import { reduceConversation } from './reduce.ts';
import { conversationStatus, openQuestions, openSignIns, subtasksOf } from './selectors.ts';
import { emptyConversation } from './state.ts';

const folded = (...made: readonly Made[]) => reduceConversation(emptyConversation, eventsOf(made));
const texts = (state: typeof emptyConversation) =>
  [...state.messages.values()].map(({ role, text, isOpen }) => [role, text, isOpen]);

const hello: Made = {
  kind: 'task-created',
  initiator: 'user',
  metadata: { agentId: 'host:desk', message: { role: 'user', content: 'Hello?' } },
};
const working: Made = { kind: 'task-status', status: 'working' };
const delta = (text: string, index: number, more: object = {}): Made => ({
  kind: 'content-delta',
  delta: text,
  index,
  contentId: 'b',
  ...more,
});
const below = { taskId: 'task_a.0', parentTaskId: 'task_a' };

test('text fills piece by piece, and is closed by the whole block', () => {
  expect(texts(folded(hello, working, delta('Hel', 0), delta('lo', 1)))).toEqual([
    ['user', 'Hello?', false],
    ['agent', 'Hello', true],
  ]);
  const state = folded(hello, delta('Hel', 0), { kind: 'content-complete', content: 'Hello.', contentId: 'b' });
  expect(texts(state)[1]).toEqual(['agent', 'Hello.', false]);
  expect(state.tasks.get('task_a')?.items).toEqual([
    { of: 'messages', id: 'task_a:message' },
    { of: 'messages', id: 'b' },
  ]);
});

test('a text too long for its last event keeps what its pieces had, and names the artifact with all of it', () => {
  const metadata = { truncated: true, artifact: { artifactId: 'values/1', version: 1 } };
  const end: Made = { kind: 'content-complete', content: 'Hel\ufffd', contentId: 'b', metadata };
  const whole = folded(hello, delta('Hello, ', 0), delta('all of you.', 1), end).messages.get('b');
  expect(whole).toMatchObject({ text: 'Hello, all of you.', isOpen: false, isPartial: false, artifactId: 'values/1' });
  // Those who come in the middle have only the beginning, and know it.
  const late = folded(hello, delta('all of you.', 1), end).messages.get('b');
  expect(late).toMatchObject({ text: 'Hel\ufffd', isOpen: false, isPartial: true, artifactId: 'values/1' });
  const short = folded(hello, delta('Hel', 0), { kind: 'content-complete', content: 'Hello.', contentId: 'b' });
  expect(short.messages.get('b')).toMatchObject({ text: 'Hello.', isPartial: false, artifactId: null });
});

test('blocks without an id follow one another', () => {
  const unnamed = { contentId: undefined };
  const state = folded(
    delta('a', 0, unnamed),
    delta('b', 1, unnamed),
    { kind: 'content-complete', content: 'ab' },
    delta('c', 0, unnamed),
  );
  expect(texts(state)).toEqual([
    ['agent', 'ab', false],
    ['agent', 'c', true],
  ]);
});

test.each<readonly [string, Made]>([
  ['the task fails', { kind: 'task-status', status: 'failed' }],
  ['the model call fails', { kind: 'error', code: 'llm_timeout', message: '', retryable: true, scope: 'llm' }],
  ['the host restarts', { kind: 'task-status', status: 'working', metadata: { reason: 'host_restarted' } }],
])('open text is dropped when %s', (_when, event) => {
  expect(texts(folded(hello, delta('Hel', 0), event))).toEqual([['user', 'Hello?', false]]);
});

test('text stays while a tool of the same task has a problem', () => {
  const problem: Made = { kind: 'error', code: 'tool_failed', message: 'no', retryable: false, scope: 'tool' };
  const state = folded(hello, delta('Hel', 0), problem);
  expect(texts(state)[1]).toEqual(['agent', 'Hel', true]);
  expect(state.tasks.get('task_a')?.problems).toMatchObject([{ code: 'tool_failed' }]);
});

test('a tool shows its progress and its result, and stops with its task', () => {
  const start: Made = { kind: 'tool-start', toolCallId: 'c', toolName: 'search', arguments: { q: 'x' } };
  const half: Made = { kind: 'tool-progress', toolCallId: 'c', progress: 0.5, message: 'half' };
  const call = (...made: readonly Made[]) => folded(hello, start, half, ...made).tools.get('c');
  expect(call()).toMatchObject({ toolName: 'search', status: 'running', progress: { progress: 0.5, message: 'half' } });
  const done: Made = { kind: 'tool-complete', toolCallId: 'c', toolName: 'search', success: true, result: [1] };
  expect(call(done)).toMatchObject({ status: 'succeeded', result: [1] });
  expect(call({ ...done, success: false, error: 'no' })).toMatchObject({ status: 'failed', error: 'no' });
  expect(call({ kind: 'task-status', status: 'canceled' })).toMatchObject({ status: 'stopped' });
});

test('a question of a subtask is for the user only when it was passed on or must be', () => {
  const ask: Made = { kind: 'input-required', inputId: 'i', inputType: 'confirmation', prompt: 'Go on?', ...below };
  const asked = (...made: readonly Made[]) =>
    openQuestions(folded(hello, working, ...made)).map(({ taskId }) => taskId);
  expect(asked(ask)).toEqual([]);
  expect(asked({ ...ask, requireUser: true })).toEqual(['task_a.0']);
  const passed: Made = { kind: 'input-forwarded', inputId: 'i', ...below };
  expect(asked(ask, passed)).toEqual(['task_a.0']);
  expect(
    asked(ask, passed, { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann', ...below }),
  ).toEqual([]);
  expect(asked(ask, passed, { kind: 'task-status', status: 'canceled', ...below })).toEqual([]);
});

test('a question says who answered it and how; one that nobody answered is closed', () => {
  const ask: Made = { kind: 'input-required', inputId: 'i', inputType: 'confirmation', prompt: 'Go on?' };
  const ended = (outcome: 'answered' | 'rejected' | 'timeout' | 'canceled') => {
    const metadata = { outcome, duration: 7 };
    const received: Made = { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann', metadata };
    return folded(hello, working, ask, received).questions.get('i');
  };
  expect(folded(hello, working, ask).questions.get('i')).toMatchObject({ status: 'open', received: null });
  expect(ended('answered')).toMatchObject({
    status: 'answered',
    received: { userId: 'ann', metadata: { duration: 7 } },
  });
  expect(ended('rejected')).toMatchObject({ status: 'answered', received: { metadata: { outcome: 'rejected' } } });
  expect(ended('timeout')).toMatchObject({ status: 'closed', received: { metadata: { outcome: 'timeout' } } });
  expect(ended('canceled')).toMatchObject({ status: 'closed', received: { metadata: { outcome: 'canceled' } } });
});

test('a sign-in that was refused or came too late is closed, although its task goes on', () => {
  const auth: Made = { kind: 'auth-required', authId: 's', authType: 'oauth2', prompt: 'Sign in' };
  const refused = (scope: 'auth' | 'tool', refId = 's'): Made => ({
    ...{ kind: 'error', code: 'auth_denied', message: 'The sign-in was refused.', retryable: false, scope, refId },
  });
  const open = (...made: readonly Made[]) => openSignIns(folded(hello, working, auth, ...made)).length;
  expect([open(), open(refused('auth')), open(refused('tool')), open(refused('auth', 'another'))]).toEqual([
    1, 0, 1, 1,
  ]);
  const after = folded(hello, working, auth, refused('auth'));
  expect([after.signIns.get('s')?.status, conversationStatus(after)]).toEqual(['closed', 'working']);
});

test('a task no longer waits for what was answered or has ended, although its status stays the same', () => {
  const pending = [
    { type: 'input', id: 'i' },
    { type: 'input', id: 'j' },
    { type: 'auth', id: 's' },
    { type: 'auth', id: 't' },
    { type: 'subtask', id: 'task_a.0' },
  ];
  const waits: Made = { kind: 'task-status', status: 'waiting-auth', metadata: { pending } };
  const ends: readonly Made[] = [
    { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann' },
    { kind: 'auth-completed', authId: 's', userId: 'ann' },
    { kind: 'error', code: 'auth_denied', message: 'no', retryable: false, scope: 'auth', refId: 't' },
    { kind: 'task-complete', ...below },
  ];
  const left = ends.map((_, n) => folded(hello, waits, ...ends.slice(0, n + 1)).tasks.get('task_a')?.pending);
  expect(left.map((all) => all?.map(({ id }) => id).join())).toEqual([
    'j,s,t,task_a.0',
    'j,t,task_a.0',
    'j,task_a.0',
    'j',
  ]);
});

test('the conversation waits while the user is asked, and is idle when all tasks are over', () => {
  const auth: Made = { kind: 'auth-required', authId: 's', authType: 'oauth2', prompt: 'Sign in' };
  expect(conversationStatus(emptyConversation)).toBe('idle');
  expect(conversationStatus(folded(hello, working))).toBe('working');
  expect(conversationStatus(folded(hello, working, auth))).toBe('waiting');
  const signedIn = folded(hello, working, auth, { kind: 'auth-completed', authId: 's', userId: 'ann' });
  expect([openSignIns(signedIn), conversationStatus(signedIn)]).toEqual([[], 'working']);
  const over = folded(hello, working, { kind: 'task-complete', content: 'Done.' });
  expect([conversationStatus(over), over.tasks.get('task_a')?.result]).toEqual(['idle', 'Done.']);
});

test('subtasks are below their task, also when they are seen before it', () => {
  const state = folded(
    { kind: 'task-status', status: 'working', taskId: 'task_a.0.0', parentTaskId: 'task_a.0' },
    { kind: 'subtask-created', subtaskId: 'task_a.0', agentId: 'host:clerk', prompt: 'Look it up' },
    { kind: 'task-created', initiator: 'agent', ...below },
  );
  expect(state.roots).toEqual(['task_a']);
  expect(subtasksOf(state, 'task_a').map(({ taskId, prompt }) => [taskId, prompt])).toEqual([
    ['task_a.0', 'Look it up'],
  ]);
  expect(subtasksOf(state, 'task_a.0').map(({ taskId }) => taskId)).toEqual(['task_a.0.0']);
});

test('tasks that claim to be below one another make no circle', () => {
  const state = folded(
    { kind: 'task-status', status: 'working', taskId: 'a', parentTaskId: 'b' },
    { kind: 'task-status', status: 'working', taskId: 'b', parentTaskId: 'a' },
    { kind: 'task-status', status: 'working', taskId: 'c', parentTaskId: 'c' },
  );
  expect([state.roots, subtasksOf(state, 'b').length, subtasksOf(state, 'a').length]).toEqual([['b', 'c'], 1, 0]);
});

test('a file fills as it is written, and the version before stays current until it is complete', () => {
  const piece = (data: string, index: number, complete: boolean, more: object = {}): Made => ({
    kind: 'file-write',
    artifactId: 'f',
    data,
    index,
    complete,
    ...more,
  });
  const first = [piece('on', 0, false, { name: 'f.md', metadata: { version: 1 } }), piece('e', 1, true)];
  const second = [piece('tw', 0, false, { metadata: { version: 2 } })];
  expect(folded(...first, ...second).artifacts.get('f')).toMatchObject({
    name: 'f.md',
    current: { version: 1, text: 'one', isPartial: false },
    open: { version: 2, text: 'tw' },
  });
  const abandoned = folded(...first, ...second, { kind: 'task-status', status: 'failed' });
  expect(abandoned.artifacts.get('f')).toMatchObject({ current: { text: 'one' }, open: null });
  expect(folded(piece('e', 1, true)).artifacts.get('f')?.current).toMatchObject({ text: '', isPartial: true });
  const large = folded(
    piece('x'.repeat(1_000_000), 0, false),
    piece('x'.repeat(100_000), 1, false),
    piece('y', 2, true),
  );
  expect(large.artifacts.get('f')?.current).toMatchObject({ isPartial: true, text: 'x'.repeat(1_000_000) });
  const blob = folded(
    piece('a', 0, false),
    piece('', 1, false, { metadata: { blob: { bytes: 9 } } }),
    piece('b', 2, true),
  );
  expect(blob.artifacts.get('f')?.current).toMatchObject({ text: 'a', isPartial: true });
});

test('records change whole and datasets grow by batches', () => {
  const state = folded(
    { kind: 'data-write', artifactId: 'd', data: { n: 1 }, name: 'D', metadata: { version: 1 } },
    { kind: 'data-write', artifactId: 'd', data: { n: 2 }, metadata: { version: 2 } },
    { kind: 'dataset-write', artifactId: 's', rows: [{ a: 1 }], index: 0, complete: false, schema: { type: 'object' } },
    { kind: 'dataset-write', artifactId: 's', rows: [{ a: 2 }], index: 1, complete: true },
  );
  expect(state.artifacts.get('d')).toMatchObject({ name: 'D', current: { version: 2, data: { n: 2 } } });
  expect(state.artifacts.get('s')).toMatchObject({
    current: { rows: [{ a: 1 }, { a: 2 }], schema: { type: 'object' } },
    open: null,
  });
  expect(state.tasks.get('task_a')?.items).toHaveLength(2);
});

test('tokens add up, and a reset forgets everything', () => {
  const usage: Made = { kind: 'llm-usage', model: 'm', inputTokens: 2, outputTokens: 3 };
  const state = folded(hello, usage, usage);
  expect(state.tasks.get('task_a')?.tokens).toEqual({ input: 4, output: 6, total: 10 });
  const caught = reduceConversation(state, [{ kind: 'stream:caught-up', cursor: 9 }]);
  expect([caught.isCaughtUp, caught.cursor]).toEqual([true, 9]);
  const reset = reduceConversation(caught, [{ kind: 'stream:reset', reason: 'cursor-ahead', oldest: 1, head: 1 }]);
  expect(reset).toEqual(emptyConversation);
});

test('what a stream says of an earlier place does not take the state back', () => {
  const state = folded(hello, delta('Hel', 0), delta('lo', 1));
  const late = reduceConversation(state, [{ kind: 'stream:caught-up', cursor: 1 }]);
  expect([late.isCaughtUp, late.cursor]).toEqual([true, 3]);
});

test('a block that begins again replaces what there was of it, and is open once', () => {
  const state = folded(hello, delta('Hel', 0), delta('lo', 1), delta('Bye', 0));
  expect(texts(state)[1]).toEqual(['agent', 'Bye', true]);
  expect(state.tasks.get('task_a')?.openMessages).toEqual(['b']);
});

test('open text is dropped when its task has a problem', () => {
  const problem: Made = { kind: 'error', code: 'host_restarted', message: '', retryable: true, scope: 'task' };
  expect(texts(folded(hello, delta('Hel', 0), problem))).toEqual([['user', 'Hello?', false]]);
});

test('a version that begins again replaces what there was of it, and ends with its own task alone', () => {
  const piece = (data: string, index: number, taskId: string): Made => {
    const rest = index === 0 ? { metadata: { version: 1 } } : {};
    return { kind: 'file-write', artifactId: 'f', data, index, complete: false, taskId, ...rest };
  };
  const crashed = [piece('on', 0, 'a'), piece('e', 1, 'a'), piece('tw', 0, 'a')];
  expect(folded(...crashed).artifacts.get('f')?.open).toMatchObject({ text: 'tw', isPartial: false });
  // Another task goes on with the artifact; then the first ends.
  const state = folded(...crashed, piece('th', 0, 'b'), piece('xx', 0, 'a'), piece('ree', 0, 'b'), {
    kind: 'task-complete',
    taskId: 'a',
  });
  expect(state.artifacts.get('f')?.open).toMatchObject({ text: 'ree', taskId: 'b' });
  expect(['a', 'b'].map((id) => state.tasks.get(id)?.items.length)).toEqual([1, 1]);
});

test('the end of a task leaves its results as they are, and its questions are for the user', () => {
  const state = folded(
    hello,
    { kind: 'tool-start', toolCallId: 'c', toolName: 'search', arguments: {} },
    { kind: 'tool-complete', toolCallId: 'c', toolName: 'search', success: true, result: 1 },
    { kind: 'input-required', inputId: 'i', inputType: 'custom', prompt: '?' },
  );
  expect(openQuestions(state)).toHaveLength(1);
  const over = reduceConversation(
    state,
    eventsOf([{ kind: 'task-complete' }]).map((one) => ({ ...one, cursor: 9 })),
  );
  expect([over.tools.get('c')?.status, openQuestions(over)]).toEqual(['succeeded', []]);
});
