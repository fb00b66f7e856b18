/** The audit finds each broken promise in events that were sound. */
import type { TaskEvent } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { auditContext } from './audit.ts';

type Said = { readonly kind: string; readonly taskId?: string; readonly [field: string]: unknown };

const numbered = (said: readonly Said[]): readonly TaskEvent[] => {
  const events: TaskEvent[] = JSON.parse(
    JSON.stringify(
      said.map((event, i) => ({
        taskId: 't',
        contextId: 'c',
        timestamp: '2026-01-05T09:00:00.000Z',
        cursor: i + 1,
        eventId: `t:${i}`,
        ...event,
      })),
    ),
  );
  return events;
};

const file = (index: number, complete: boolean, more: object = {}) => ({
  kind: 'file-write',
  artifactId: 'f',
  data: 'x',
  index,
  complete,
  ...(index === 0 && { name: 'f', metadata: { version: 1 } }),
  ...more,
});
const data = (version: number) => ({ kind: 'data-write', artifactId: 'd', data: {}, metadata: { version } });
const pending = { pending: [{ type: 'input', id: 'i' }] };
const below = { taskId: 't.0', parentTaskId: 't' };

const sound: readonly Said[] = [
  { kind: 'task-created', initiator: 'user' },
  { kind: 'task-status', status: 'working' },
  { kind: 'content-delta', delta: 'Hel', index: 0, contentId: 'b' },
  // The host died here, and the turn began again.
  { kind: 'content-delta', delta: 'Hel', index: 0, contentId: 'b' },
  { kind: 'content-delta', delta: 'lo', index: 1, contentId: 'b' },
  { kind: 'content-complete', content: 'Hello', contentId: 'b' },
  { kind: 'tool-start', toolCallId: 'k', toolName: 'n', arguments: {} },
  { kind: 'tool-progress', toolCallId: 'k', progress: 0.5 },
  { kind: 'tool-progress', toolCallId: 'k', progress: 0.5 },
  // The call was entered again.
  { kind: 'tool-progress', toolCallId: 'k', progress: 0.1, metadata: { attempt: 2 } },
  { kind: 'tool-progress', toolCallId: 'k', progress: 0.2, metadata: { attempt: 2 } },
  file(0, false),
  file(1, true),
  data(1),
  data(2),
  { kind: 'input-required', inputId: 'i', inputType: 'custom', prompt: '?' },
  { kind: 'task-status', status: 'waiting-input', metadata: pending },
  { kind: 'input-received', inputId: 'i', providedBy: 'user', userId: 'ann' },
  { kind: 'task-status', status: 'working' },
  { kind: 'tool-complete', toolCallId: 'k', toolName: 'n', success: true },
  { kind: 'subtask-created', subtaskId: 't.0', prompt: 'Do.' },
  { kind: 'task-created', initiator: 'agent', ...below },
  { kind: 'task-status', status: 'failed', ...below },
  { kind: 'task-status', status: 'completed' },
  { kind: 'task-complete' },
];

const without = (kind: string, which = 0) => {
  const place = sound.flatMap((event, i) => (event.kind === kind ? [i] : []))[which] ?? -1;
  return sound.filter((_, i) => i !== place);
};
const twice = (kind: string) => sound.flatMap((event) => (event.kind === kind ? [event, event] : [event]));
const having = (kind: string, more: object, which = 0) => {
  const place = sound.flatMap((event, i) => (event.kind === kind ? [i] : []))[which] ?? -1;
  return sound.map((event, i) => (i === place ? { ...event, ...more } : event));
};

test('finds nothing in events that keep every promise', () => {
  expect(auditContext(numbered(sound))).toEqual([]);
});

/** Nobody was asked to sign in. */
const signedIn: readonly Said[] = [
  ...sound.slice(0, 2),
  { kind: 'auth-completed', authId: 'a', userId: 'ann' },
  ...sound.slice(2),
];

const broken: readonly (readonly [promise: string, events: readonly Said[]])[] = [
  ['cursors increase', having('task-complete', { cursor: 3 })],
  ['an event comes once', having('task-complete', { eventId: 't:0' })],
  ['every event is one that the protocol defines', having('task-status', { status: 'dancing' })],
  ['a task begins with its one task-created', without('task-created')],
  ['a task begins with its one task-created', twice('task-created')],
  ['a task has one end', without('task-complete')],
  ['nothing follows the end', [...sound, { kind: 'content-delta', delta: 'x', index: 0 }]],
  ['task-complete follows the status completed', without('task-status', 4)],
  ['no status comes twice in a row', having('task-status', { status: 'working' }, 1)],
  ['a waiting status lists what the task waits for', having('task-status', { metadata: {} }, 1)],
  ['deltas of a block have dense indexes', having('content-delta', { index: 2 }, 2)],
  ['deltas join to the content', having('content-complete', { content: 'Hullo' })],
  ['a call starts once', twice('tool-start')],
  ['only an open call makes progress', without('tool-start')],
  ['progress never decreases in an attempt', having('tool-progress', { progress: 0.4 }, 1)],
  ['progress never decreases in an attempt', having('tool-progress', { progress: 0.05 }, 3)],
  ['a call that started completes once', twice('tool-complete')],
  ['every call completes', without('tool-complete')],
  ['a question is answered once, after it was asked', twice('input-received')],
  ['an answer names a user or an agent, and not both', having('input-received', { agentId: 'a' })],
  ['a sign-in completes once, after it was asked for', signedIn],
  ['pieces of an artifact are contiguous from 0', without('file-write')],
  ['only piece 0 is described', having('file-write', { name: 'f' }, 1)],
  ['a version is one more than the last', without('data-write')],
  ['a version is one more than the last', twice('data-write')],
  ['subtask-created of the parent comes before the subtask', without('subtask-created')],
  ['an agent starts a subtask', having('task-created', { initiator: 'user' }, 1)],
  ['every event of a subtask names its parent', having('task-status', { parentTaskId: undefined }, 3)],
];

test.each(broken)('finds that this is broken: %s', (promise, events) => {
  expect(auditContext(numbered(events)).map((breach) => breach.promise)).toContain(promise);
});
