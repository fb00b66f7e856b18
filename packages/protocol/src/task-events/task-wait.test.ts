/** When a wait of a task is said. */
import { expect, test } from 'vitest';
import { parseShape } from '../parse.ts';
import { taskEvent } from './task-event.ts';
import { isWaitSaid, newTaskWait } from './task-wait.ts';

/** Whether each event ends what a client reads until the task waits. */
function said(...faces: readonly object[]): readonly boolean[] {
  const wait = newTaskWait();
  const at = { contextId: 'ctx_a', taskId: 'run_a', timestamp: '2026-01-01T00:00:00.000Z', cursor: 1, eventId: 'e' };
  return faces.map((face) => isWaitSaid(wait, parseShape(taskEvent, { ...at, ...face }, 'The event')));
}

const asks = (inputId: string) => ({ kind: 'input-required', inputId, inputType: 'custom', prompt: 'So?' });
const signsIn = { kind: 'auth-required', authId: 's', authType: 'oauth2', prompt: 'Sign in.' };
const waits = (status: string, ...pending: readonly object[]) => ({
  kind: 'task-status',
  status,
  metadata: { pending },
});
const input = (id: string) => ({ type: 'input', id });
const received = (inputId: string) => ({ kind: 'input-received', inputId, providedBy: 'user', userId: 'ann' });

test('a status that waits comes after its question', () => {
  expect(said(asks('i'), waits('waiting-input', input('i')))).toEqual([false, true]);
});

test('a question that comes after the status completes it', () => {
  expect(said(waits('waiting-input', input('i')), asks('i'))).toEqual([false, true]);
});

test('each question has to be seen, and each sign-in', () => {
  const pending = [input('i'), { type: 'auth', id: 's' }];
  expect(said(asks('i'), waits('waiting-auth', ...pending), signsIn)).toEqual([false, false, true]);
});

test('a subtask asks in events of its own, and a status that names nothing asks nothing', () => {
  expect(said(waits('waiting-subtask', { type: 'subtask', id: 'run_a.0' }))).toEqual([true]);
  expect(said({ kind: 'task-status', status: 'waiting-input' })).toEqual([true]);
});

test('a question of a task that works is no wait', () => {
  const working = { kind: 'task-status', status: 'working' };
  expect(said(asks('i'), working, asks('j'))).toEqual([false, false, false]);
  expect(said(waits('waiting-input', input('i')), working, asks('i'))).toEqual([false, false, false]);
});

test('what was answered is not asked any more', () => {
  const events = [asks('i'), asks('j'), received('i'), waits('waiting-input', input('j')), received('j'), asks('k')];
  expect(said(...events)).toEqual([false, false, false, true, false, false]);
});
