/** What the AG-UI view shows, case by case. */
import type { Event as AguiEvent } from '@ag-ui/core';
import type { TaskEvent } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { withKnown } from './known-messages.ts';
import { MessageFold } from './messages.ts';
import { newsOf, withoutContext } from './run-input.ts';
import { newRunState, type ShownRun } from './run-state.ts';
import { reopened, take } from './view.ts';

const run: ShownRun = { threadId: 'c', runId: 'r', taskId: 'a' };

/** The events of a run over these task events, which are of the root task unless they say otherwise. */
function shown(made: readonly Record<string, unknown>[], of: Partial<ShownRun> = {}): AguiEvent[] {
  const state = newRunState({ ...run, ...of });
  const envelope = { contextId: 'c', taskId: 'a', timestamp: '2026-01-01T00:00:00.000Z', eventId: 'e' };
  return made.flatMap((event, at) => {
    const received: TaskEvent = JSON.parse(JSON.stringify({ ...envelope, cursor: at + 1, ...event }));
    return [...take(state, received, true)];
  });
}

const typesOf = (events: readonly AguiEvent[]) => events.map(({ type }) => type);
const begun = [
  { kind: 'task-created', initiator: 'user' },
  { kind: 'task-status', status: 'working' },
];
const child = { taskId: 'a.0', parentTaskId: 'a' };
const waits = { kind: 'task-status', status: 'waiting-input' };

test('a question of a subtask ends the run when it is passed on to the user, not before', () => {
  const asked = [
    ...begun,
    { kind: 'subtask-created', subtaskId: 'a.0', prompt: 'Look.' },
    { kind: 'task-created', initiator: 'agent', metadata: { agentId: 'host:scout' }, ...child },
    { kind: 'task-status', status: 'waiting-subtask' },
    { kind: 'input-required', inputId: 'q', inputType: 'clarification', prompt: 'Where?', ...child },
    { ...waits, ...child },
  ];
  expect(typesOf(shown(asked))).toEqual(['SUBAGENT_STARTED', 'CUSTOM']);
  const events = shown([...asked, { kind: 'input-forwarded', inputId: 'q', ...child }]);
  expect(events.slice(-2)).toMatchObject([
    { type: 'SUBAGENT_FINISHED', subagentRunId: 'a.0', outcome: { type: 'suspended', interruptIds: ['q'] } },
    { outcome: { type: 'interrupt', interrupts: [{ id: 'q', subagentRunId: 'a.0', message: 'Where?' }] } },
  ]);
  expect(events[0]).toMatchObject({ name: 'host:scout', description: 'Look.' });
});

test('a subagent starts below one whose own events lie before those that were read', () => {
  const deep = { taskId: 'a.0.1', parentTaskId: 'a.0' };
  expect(shown([...begun, { kind: 'task-status', status: 'working', ...deep }])).toMatchObject([
    { type: 'SUBAGENT_STARTED', subagentRunId: 'a.0' },
    { type: 'SUBAGENT_STARTED', subagentRunId: 'a.0.1', parentSubagentRunId: 'a.0' },
  ]);
});

test('a run goes on while a call of it works, and then names all open calls of the client', () => {
  const call = (toolCallId: string, provider: string) => ({
    kind: 'tool-start',
    toolCallId,
    toolName: provider === 'client' ? 'client:pick' : 'acme:look',
    arguments: { n: 1 },
    metadata: { provider },
  });
  const asks = (toolCallId: string) => ({
    kind: 'input-required',
    inputId: `q-${toolCallId}`,
    inputType: 'tool-execution',
    prompt: 'Pick.',
    toolCallId,
  });
  const working = [...begun, call('1', 'client'), call('2', 'client'), call('3', 'local'), asks('1'), waits, asks('2')];
  expect(typesOf(shown(working))).not.toContain('RUN_FINISHED');
  const done = { kind: 'tool-complete', toolCallId: '3', toolName: 'acme:look', success: true, result: { ok: 1 } };
  const events = shown([...working, done]);
  expect(events.at(-2)).toMatchObject({ type: 'TOOL_CALL_RESULT', content: '{"ok":1}' });
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['1', '2'] } });
  expect(events.filter(({ type }) => type === 'TOOL_CALL_START')).toMatchObject([
    { toolCallName: 'pick' },
    { toolCallName: 'pick' },
    { toolCallName: 'acme:look' },
  ]);
});

test('what the run itself answers is no question any more', () => {
  const question = { kind: 'input-required', inputId: 'q', inputType: 'clarification', prompt: 'Where?' };
  expect(typesOf(shown([...begun, question, waits]))).toEqual(['CUSTOM', 'RUN_FINISHED']);
  expect(typesOf(shown([...begun, question, waits], { answered: new Set(['q']) }))).toEqual(['CUSTOM']);
});

test('text that a model did not finish ends, is named, and is in no snapshot', () => {
  const events = shown([
    ...begun,
    { kind: 'content-delta', contentId: 'm', delta: 'Hel', index: 0 },
    { kind: 'error', code: 'llm_unavailable', message: 'gone', retryable: true, scope: 'llm' },
    { kind: 'content-complete', contentId: 'n', content: 'Hello.' },
  ]);
  expect(events).toContainEqual(expect.objectContaining({ name: 'cairn.content-dropped', value: { messageId: 'm' } }));
  const fold = new MessageFold({ messages: 10, characters: 100 });
  for (const event of events) fold.take(event);
  expect(fold.messages()).toMatchObject([{ id: 'n', content: 'Hello.' }]);
});

test('nodes of a workflow are steps with names of their own, and tokens add up', () => {
  const node = (kind: string, toolCallId: string) => ({
    kind,
    toolCallId,
    toolName: 'core.delay',
    arguments: {},
    success: true,
    metadata: { provider: 'workflow' },
  });
  const usage = { kind: 'llm-usage', model: 'm', inputTokens: 2, outputTokens: 1, cacheReadTokens: 1 };
  const events = shown([
    ...begun,
    node('tool-start', '1'),
    node('tool-start', '2'),
    node('tool-complete', '1'),
    usage,
    usage,
    { kind: 'task-complete', content: 'Done.' },
  ]);
  expect(events).toMatchObject([
    { type: 'STEP_STARTED', stepName: 'core.delay' },
    { type: 'STEP_STARTED', stepName: 'core.delay 2' },
    { type: 'STEP_FINISHED', stepName: 'core.delay' },
    { type: 'STEP_FINISHED', stepName: 'core.delay 2' },
    { result: { content: 'Done.' }, usage: [{ model: 'm', inputTokens: 4, outputTokens: 2, cachedInputTokens: 2 }] },
  ]);
});

test('a record that changes takes no other one from the state that a later run begins with', () => {
  const state = newRunState(run);
  const place = { contextId: 'c', taskId: 'a', eventId: 'e', timestamp: '2026-01-01T00:00:00.000Z' };
  const wrote = (n: number, cursor: number): TaskEvent => ({
    ...place,
    kind: 'data-write',
    artifactId: `r${n}`,
    data: { cursor },
    cursor,
  });
  const written = Array.from({ length: 100 }, (_, n) => wrote(n, n + 1));
  for (const event of [...written, wrote(50, 101)]) take(state, event, false);
  const [snapshot] = reopened(state);
  expect(snapshot?.type === 'STATE_SNAPSHOT' && Object.keys(snapshot.snapshot)).toHaveLength(100);
  expect(snapshot).toMatchObject({ snapshot: { r0: { cursor: 1 }, r50: { cursor: 101 } } });
});

test('records are added to the state of the client under their names', () => {
  const wrote = (name: string) => ({ kind: 'data-write', artifactId: name, name, data: { n: name }, metadata: {} });
  const events = shown([...begun, wrote('cart'), wrote('a/b')], { state: { own: 1 } });
  expect(events.filter(({ type }) => type.startsWith('STATE'))).toMatchObject([
    { type: 'STATE_SNAPSHOT', snapshot: { own: 1, cart: { n: 'cart' } } },
    { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a~1b', value: { n: 'a/b' } }] },
  ]);
});

test('a snapshot keeps the newest messages within its limits', () => {
  const fold = new MessageFold({ messages: 3, characters: 25 });
  for (const id of ['1', '2', '3', '4']) fold.said(id, 'ten chars.');
  expect(fold.messages().map(({ id }) => id)).toEqual(['3', '4']);
});

test('a snapshot keeps the ids and the answers of a client in order, and drops what is out of order', () => {
  const user = (id: string, content: string) => ({ id, role: 'user' as const, content });
  const said = (id: string) => ({ id, role: 'assistant' as const, content: id });
  const host = [user('h1', 'Hi'), said('m1'), user('h2', 'Go'), said('m2')];
  const ids = (known: Parameters<typeof withKnown>[1]) => withKnown(host, known).map(({ id }) => id);
  expect(ids([])).toEqual(['h1', 'm1', 'h2', 'm2']);
  expect(ids([user('c1', 'Hi'), said('m1'), user('c2', 'Go')])).toEqual(['c1', 'm1', 'c2', 'm2']);
  expect(ids([user('c1', 'Hi'), said('m1'), user('c0', 'Basel'), user('c2', 'Go')])).toEqual([
    'c1',
    'm1',
    'c0',
    'c2',
    'm2',
  ]);
  // The client's only message is the host's second one: it would stand before the first.
  expect(ids([user('c2', 'Go')])).toEqual(['h1', 'm1', 'h2', 'm2']);
});

test('the news of an input are its answers, results after the last text of the agent, and the last message', () => {
  const messages = [
    { id: '1', role: 'user' as const, content: 'Hi' },
    { id: '2', role: 'tool' as const, content: 'old', toolCallId: 'x' },
    { id: '3', role: 'assistant' as const },
    { id: '4', role: 'tool' as const, content: '{"n":1}', toolCallId: 'y' },
    { id: '5', role: 'user' as const, content: [{ type: 'text', text: 'Go' }] },
  ];
  const context = [{ description: 'page', value: '/cart' }];
  const { answers, results, said } = newsOf({ threadId: 't', runId: 'r', messages, context });
  expect([answers, results]).toEqual([[], [{ toolCallId: 'y', text: '{"n":1}', error: undefined }]]);
  expect(said?.text).toBe('Go\n\n---\nContext:\npage: /cart');
  expect(withoutContext(said?.text ?? '')).toBe('Go');
});
